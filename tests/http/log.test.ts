import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as headerNames from '../../sdk/contract/headers.ts';
import { program } from '../cli/shell.ts';
import { accept } from '../mcp/messages.ts';
import { endsThread } from '../storage/faulty-threads.ts';
import { withFolder } from '../support/folder.ts';
import { freePort, startChild, startServing } from '../support/process.ts';
import { startTestServer, withServer } from '../support/server.ts';
import { head, sendRaw } from '../support/socket.ts';
import { until } from '../support/until.ts';

const apiKey = 'log-test-key-0123456789abcdef';
const origin = 'https://app.example';
const folder = withFolder();
const lines: Record<string, unknown>[] = [];
const options = { log: (line: string) => void lines.push(JSON.parse(line)), onFatal() {} };
const env = { MEMORY_API_KEY: apiKey, MEMORY_CORS_ORIGINS: origin, LOG_LEVEL: 'debug' };
const server = await withServer({ ...env, MEMORY_TRUSTED_PROXIES: '127.0.0.0/8' }, [], options);

const known = { authorization: `Bearer ${apiKey}` };
const json = { ...known, 'content-type': 'application/json' };
const preflight = { origin, 'access-control-request-method': 'POST' };
const saved = JSON.stringify({ userId: 'u', content: 'a' });

type Case = [string, string, RequestInit, number, string];
const cases: Case[] = [
  ['GET', '/health', {}, 200, '/health'],
  ['GET', '/health/live', {}, 200, '/health/live'],
  ['GET', '/metrics', {}, 200, '/metrics'],
  ['GET', '/openapi.json', {}, 200, '/openapi.json'],
  ['POST', '/v1/memories', { headers: json, body: saved }, 201, '/v1/memories'],
  ['POST', '/v1/memories', { headers: json, body: '{' }, 400, '/v1/memories'],
  ['POST', '/v1/memories', { headers: json, body: '{}' }, 400, '/v1/memories'],
  ['POST', '/v1/memories', { headers: known, body: saved }, 415, '/v1/memories'],
  ['GET', '/v1/memories?userId=u', { headers: known }, 200, '/v1/memories'],
  ['HEAD', '/v1/memories?userId=u', { headers: known }, 200, '/v1/memories'],
  ['GET', '/v1/memories?userId=u', {}, 401, '/v1/memories'],
  ['GET', '/v1/memories/mem_none', { headers: known }, 404, '/v1/memories/:id'],
  ['DELETE', '/v1/memories?userId=none', { headers: known }, 200, '/v1/memories'],
  ['PUT', '/v1/memories', { headers: known }, 405, '/v1/*'],
  ['GET', '/v1/nothing', { headers: known }, 404, '/v1/*'],
  ['GET', '/nothing', {}, 404, '(none)'],
  ['OPTIONS', '/v1/memories', { headers: preflight }, 204, '(none)'],
];

for (const [method, path, init, status, route] of cases) {
  test(`${method} ${path} ${status} is logged as one line`, async () => {
    lines.length = 0;
    const response = await fetch(server.url + path, { ...init, method });
    expect(response.status).toBe(status);
    const requests = () => lines.filter(({ message }) => message === 'request');
    await until(() => requests().length > 0, { timeoutMs: 1_000, what: 'the line' });
    // Allow time for an unexpected second line.
    await Bun.sleep(20);
    const [line, ...more] = requests();
    expect(more).toEqual([]);
    const level = /^\/(health|metrics)/.test(path) ? 'debug' : 'info';
    expect(line).toMatchObject({ level, method, route, status });
    expect(String(line?.durationMs)).toMatch(/^\d+(?:\.\d)?$/);
    const requestId = response.headers.get(headerNames.requestId);
    if (requestId !== null) expect(line?.requestId).toBe(requestId);
  });
}

async function lineOf(send: () => Promise<unknown>): Promise<Record<string, unknown>> {
  lines.length = 0;
  await send();
  return until(() => lines.find(({ message }) => message === 'request'), { what: 'the line' });
}

test('durationMs is the time from the request head to the response', async () => {
  const begun = performance.now();
  const lines = ['Content-Type: application/json', `Content-Length: ${saved.length}`];
  const request = [head(server, 'POST', '/v1/memories', ...lines), saved];
  const line = await lineOf(() => sendRaw(server, request, { pauseMs: 200 }));
  expect(line.status).toBe(201);
  expect(line.durationMs).toBeWithin(100, performance.now() - begun);
});

const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test.each([
  ['valid', trace, trace],
  ['in upper case', trace.toUpperCase(), undefined],
  ['of version ff', trace.replace('00', 'ff'), undefined],
  ['without a trace id', trace.replace(/-\w{32}-/, `-${'0'.repeat(32)}-`), undefined],
  ['without a parent id', trace.replace(/-\w{16}-/, `-${'0'.repeat(16)}-`), undefined],
  ['followed by other text', `${trace}-more`, undefined],
  ['not a traceparent', 'canary', undefined],
])('a traceparent is logged only if it is valid: %s', async (_, traceparent, logged) => {
  const headers = { ...known, traceparent };
  const line = await lineOf(() => fetch(`${server.url}/v1/nothing`, { headers }));
  expect(line.traceparent).toBe(logged);
});

const forwarded = { 'x-forwarded-for': '192.0.2.1' };
const key = await server.createKey('shop', { readOnly: true });
const readOnly = { authorization: `Bearer ${key}` };
const refused = { status: 403, project: 'shop', keyLastFour: key.slice(-4) };
const ofMessage = { route: '/mcp/users/:userId', status: 400 };

test.each<[what: string, path: string, headers: Record<string, string>, line: object]>([
  ["the client's request id", '/v1/nothing', { 'x-request-id': 'mine-1' }, { requestId: 'mine-1' }],
  ['the address that a trusted proxy reports', '/v1/nothing', forwarded, { address: '192.0.2.1' }],
  ['the key of a write that it may not make', '/v1/memories', readOnly, refused],
  ['the status of an MCP message', '/mcp/users/u', { accept }, ofMessage],
])('a line has %s', async (_, path, headers, expected) => {
  const init = { method: 'POST', headers: { ...json, ...headers }, body: '{}' };
  expect(await lineOf(() => fetch(server.url + path, init))).toMatchObject(expected);
});

test('an unexpected error is logged with its cause, the request id and the address', async () => {
  const preload = [join(import.meta.dir, '../storage/faulty-threads.ts')];
  const databaseUrl = `sqlite:${folder.file('faulty.db')}`;
  const faulty = await startTestServer(env, preload, { ...options, databaseUrl });
  lines.length = 0;
  const body = JSON.stringify({ userId: endsThread, content: 'x' });
  const init = { method: 'POST', headers: { ...json, ...forwarded }, body };
  const response = await fetch(`${faulty.url}/v1/memories`, init);
  await faulty.stop();
  const requestId = response.headers.get(headerNames.requestId);
  expect(response.status).toBe(500);
  const logged = lines.find(({ message }) => message === 'unhandled error while serving request');
  expect(logged).toMatchObject({ level: 'error', requestId });
  expect(JSON.stringify(logged)).toContain('the writer thread');
  // This server trusts no proxy.
  const line = lines.find(({ message }) => message === 'request');
  expect(line).toMatchObject({ requestId, address: '127.0.0.1' });
});

test('a process writes every line to stderr in order, and flushes on exit', async () => {
  const begun = Date.now();
  const own = { MEMORY_API_KEY: apiKey, HOME: folder.path };
  const child = await startServing(program, folder.file('process.db'), own);
  const requestIds: (string | null)[] = [];
  for (let count = 0; count < 30; count += 1) {
    const response = await fetch(`${child.url}/v1/memories/mem_${count}`, { headers: known });
    requestIds.push(response.headers.get(headerNames.requestId));
    // The server buffers lines for 50 ms, so this pause splits them into several batches.
    if (count % 10 === 5) await Bun.sleep(70);
  }
  expect(await child.end('SIGTERM')).toBe(0);
  const written = child.log().match(/^\{.*$/gm) ?? [];
  const entries = written.map((line) => JSON.parse(line) as Record<string, unknown>);
  const logged = entries.map(({ message, requestId }) => requestId ?? message);
  expect(logged).toEqual(['listening', ...requestIds, 'stopped']);
  const times = entries.map(({ time }) => Date.parse(String(time)));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(begun);
  const [first = ''] = written;
  expect(first).toStartWith(`{"time":"${entries[0]?.time}","level":"info","message":"listening"`);
});

/** Starts the service with a pipe as its stderr. `reader` reads from it. */
async function startPiped(name: string, reader: (pipe: string) => string) {
  const pipe = folder.file(name);
  const port = freePort();
  const serve = `${process.execPath} cli/main.ts serve --port ${port} --database ${pipe}.db`;
  const command = `mkfifo ${pipe}; ${reader(pipe)} & exec ${serve} 2>${pipe}`;
  const child = startChild(['sh', '-c', command], { MEMORY_API_KEY: apiKey, HOME: folder.path });
  const headers = { ...known, 'x-request-id': 'r'.repeat(128), traceparent: trace };
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/memories/none`, { headers });
    await response.text();
    expect(response.status).toBe(404);
  };
  /** Logs more than the 64 KiB that a pipe holds. */
  async function fill(requests = 200): Promise<void> {
    for (let sent = 0; sent < requests; sent += 20)
      await Promise.all(Array.from({ length: 20 }, ask));
  }
  async function stop(): Promise<void> {
    // Signal only the service, because the reader of the pipe is in the same process group.
    process.kill(child.pid, 'SIGTERM');
    expect(await child.exited).toBe(0);
    await child.end('SIGKILL');
  }
  const isUp = () =>
    ask()
      .then(() => true)
      .catch(() => false);
  await until(isUp, { what: 'the service' });
  return { pipe, ask, fill, stop };
}

test('the service keeps running and stops normally if the reader of its stderr exits', async () => {
  const { fill, stop } = await startPiped('exits', (pipe) => `head -c 10 <${pipe} >/dev/null`);
  await fill();
  await stop();
});

test('the same if it stops reading; when it resumes, the number of dropped lines is logged', async () => {
  const { pipe, ask, fill, stop } = await startPiped('late', (pipe) => {
    const wait = `while ! test -e ${pipe}.go; do sleep 0.1; done; echo $$ >${pipe}.pid; exec cat`;
    return `sh -c '${wait}' <${pipe} >${pipe}.log`;
  });
  // The server keeps at most 1 MiB of unread output.
  await fill(4_500);
  writeFileSync(`${pipe}.go`, '');
  const isLogged = async () => {
    await ask();
    return readFileSync(`${pipe}.log`, 'utf8').includes('log lines were dropped');
  };
  await until(isLogged, { what: 'the line with the number of dropped lines' });
  const log = readFileSync(`${pipe}.log`, 'utf8');
  const dropped = Number(/(\d+) log lines were dropped/.exec(log)?.[1]);
  expect(dropped).toBeGreaterThan(100);
  expect(log.match(/"message":"request"/g)?.length).toBeLessThan(4_600 - dropped);
  process.kill(Number(readFileSync(`${pipe}.pid`, 'utf8')), 'SIGSTOP');
  await fill();
  await stop();
});

test('the same if nothing is read from the start', async () => {
  const { stop } = await startPiped('full', (pipe) => {
    return `sleep 600 <${pipe} & head -c 65536 /dev/zero >${pipe}`;
  });
  await stop();
});
