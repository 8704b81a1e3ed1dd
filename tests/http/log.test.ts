import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headers as headerNames } from '../../sdk/contract/headers.ts';
import { type RunningServer, startServer } from '../../server/main.ts';
import { startChild } from '../support/process.ts';
import { until } from '../support/until.ts';

/* Every request has one line in the log, with what became of it. */

const apiKey = 'log-test-key-0123456789abcdef';
const origin = 'https://app.example';
const folder = mkdtempSync(join(tmpdir(), 'memory-log-'));
const lines: Record<string, unknown>[] = [];
let server: RunningServer;

beforeAll(async () => {
  server = await startServer({
    env: { MEMORY_API_KEY: apiKey, MEMORY_CORS_ORIGINS: origin },
    databaseUrl: `sqlite:${join(folder, 'memory.db')}`,
    port: 0,
    log: (line) => lines.push(JSON.parse(line)),
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const known = { authorization: `Bearer ${apiKey}` };
const json = { ...known, 'content-type': 'application/json' };
const preflight = { origin, 'access-control-request-method': 'POST' };
const saved = JSON.stringify({ userId: 'u', content: 'a' });

type Case = [string, string, RequestInit, number, string];
const cases: Case[] = [
  ['GET', '/health', {}, 200, '/health'],
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
  test(`${method} ${path} ${status} is one line`, async () => {
    lines.length = 0;
    const response = await fetch(server.url + path, { ...init, method });
    expect(response.status).toBe(status);
    const requests = () => lines.filter(({ message }) => message === 'request');
    await until(() => requests().length > 0, { timeoutMs: 1_000, what: 'the line' });
    // A second one would be late.
    await Bun.sleep(20);
    const [line, ...more] = requests();
    expect(more).toEqual([]);
    expect(line).toMatchObject({ method, route, status, durationMs: expect.any(Number) });
    const requestId = response.headers.get(headerNames.requestId);
    if (requestId !== null) expect(line?.requestId).toBe(requestId);
  });
}

test('a process writes every line to stderr, in order, the last when it stops', async () => {
  const begun = Date.now();
  const database = `sqlite:${join(folder, 'process.db')}`;
  const command = [process.execPath, 'cli/main.ts', 'serve', '--port', '0', '--database', database];
  const child = startChild(command, { MEMORY_API_KEY: apiKey, HOME: folder });
  // The banner is for people, and no line of the log.
  await until(() => child.log().includes('Stop with Ctrl-C'), { what: 'the banner' });
  const url = /http:[^\s"]+/.exec(child.log())?.[0] ?? '';
  const requestIds: (string | null)[] = [];
  for (let count = 0; count < 30; count += 1) {
    const response = await fetch(`${url}/v1/memories/mem_${count}`, { headers: known });
    requestIds.push(response.headers.get(headerNames.requestId));
    // Longer than lines are held back, so that they are written in several lots.
    if (count % 10 === 5) await Bun.sleep(70);
  }
  expect(await child.end('SIGTERM')).toBe(0);
  const written = child.log().match(/^\{.*$/gm) ?? [];
  const entries = written.map((line) => JSON.parse(line) as Record<string, unknown>);
  const told = entries.map(({ message, requestId }) => requestId ?? message);
  expect(told).toEqual(['listening', ...requestIds, 'stopped']);
  const times = entries.map(({ time }) => Date.parse(String(time)));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(begun);
  const [first = ''] = written;
  expect(first).toStartWith(`{"time":"${entries[0]?.time}","level":"info","message":"listening"`);
});

test.each([
  ['goes away', 'head -c 10'],
  ['stays and reads nothing', 'sleep 20'],
])('the service goes on, and stops, where who reads its stderr %s', async (_, reader) => {
  const pipe = join(folder, reader.replaceAll(' ', ''));
  const port = freePort();
  const serve = `${process.execPath} cli/main.ts serve --port ${port} --database ${pipe}.db`;
  const child = startChild(
    ['sh', '-c', `mkfifo ${pipe}; ${reader} <${pipe} >/dev/null & exec ${serve} 2>${pipe}`],
    { MEMORY_API_KEY: apiKey, HOME: folder },
  );
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isUp, { what: 'the service' });
  // More than a pipe holds, and over more than one lot of lines.
  for (let count = 0; count < 1_000; count += 1) {
    const response = await fetch(`${url}/v1/memories/mem_${count}`, { headers: known });
    expect(response.status).toBe(404);
  }
  // Without its reader, which is in the same group.
  process.kill(child.pid, 'SIGTERM');
  expect(await child.exited).toBe(0);
  await child.end('SIGKILL');
});

test('lines that nobody took in time are counted where the log goes on', async () => {
  const pipe = join(folder, 'late');
  const port = freePort();
  const serve = `${process.execPath} cli/main.ts serve --port ${port} --database ${pipe}.db`;
  const reader = `(while ! test -e ${pipe}.go; do sleep 0.1; done; cat) <${pipe} >${pipe}.log`;
  const child = startChild(['sh', '-c', `mkfifo ${pipe}; ${reader} & exec ${serve} 2>${pipe}`], {
    MEMORY_API_KEY: apiKey,
    HOME: folder,
  });
  const url = `http://127.0.0.1:${port}`;
  const ask = () => fetch(`${url}/v1/memories/none`, { headers: known }).then((r) => r.text());
  await until(
    () =>
      ask().then(
        () => true,
        () => false,
      ),
    { what: 'the service' },
  );
  // About five megabytes of lines.
  for (let lot = 0; lot < 1_000; lot += 1) await Promise.all(Array.from({ length: 20 }, ask));
  writeFileSync(`${pipe}.go`, '');
  const isTold = async () => {
    await ask();
    return readFileSync(`${pipe}.log`, 'utf8').includes('lines were dropped before this one');
  };
  await until(isTold, { what: 'the line that counts' });
  process.kill(child.pid, 'SIGTERM');
  expect(await child.exited).toBe(0);
  const log = readFileSync(`${pipe}.log`, 'utf8');
  const dropped = Number(/(\d+) lines were dropped/.exec(log)?.[1]);
  expect(dropped).toBeGreaterThan(100);
  expect(log.match(/"message":"request"/g)?.length).toBeLessThan(20_100 - dropped);
});

function freePort(): number {
  const held = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  held.stop(true);
  return held.port;
}
