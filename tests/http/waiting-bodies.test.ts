import { expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { accept, list } from '../mcp/messages.ts';
import { askRaw, expectError } from '../support/http.ts';
import { startTestServer, withServer } from '../support/server.ts';
import { dial, head, sendRaw } from '../support/socket.ts';
import { until } from '../support/until.ts';

/* Large bodies wait until memory is free for them. A stalled client blocks only its own project. */

const bodyBytes = 100_000;
/** With this limit, one such body per project and two in total can be in memory at a time. */
const env = { MEMORY_MAX_BODY_BYTES: String(bodyBytes) };
const maxWaiting = 32;

const server = await withServer(env);

const path = '/v1/ingest/document';

/** Starts a request that declares a large body, sends part of the body and lets it be read. */
async function stall(sentBytes: number, declaredBytes = bodyBytes, at = server): Promise<Socket> {
  const lines = ['Content-Type: application/json', `Content-Length: ${declaredBytes}`];
  const begin = head(at, 'POST', path, ...lines) + ' '.repeat(sentBytes);
  const socket = dial(at);
  await new Promise<void>((resolve) => {
    socket.on('connect', () => socket.write(begin, () => resolve()));
  });
  // The server shares this event loop. On a busy machine, a long sleep may be only one iteration.
  for (let n = 0; n < 20; n += 1) await Bun.sleep(10);
  return socket;
}

function post(key: string, bytes: number, at = server) {
  const empty = JSON.stringify({ userId: 'u', data: { text: '' } });
  const body = empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
  return askRaw(at, 'POST', path, body, { authorization: `Bearer ${key}` });
}

test('too many large bodies of one project get a 503 and block no other requests', async () => {
  const other = await server.createKey('other');
  const stalled = await stall(90_000);
  const answers: Awaited<ReturnType<typeof post>>[] = [];
  // One more than may wait. The last to arrive, which may be any of them, is rejected.
  const sent = Array.from({ length: maxWaiting + 1 }, async () => {
    answers.push(await post(server.key, bodyBytes));
  });
  try {
    const rejected = await until(() => answers[0], { what: 'the rejection' });
    expectError(rejected, 503, 'unavailable');
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect((await post(server.key, 1_000)).status).toBe(202);
    expect((await post(other, bodyBytes)).status).toBe(202);
    expect(answers).toHaveLength(1);
  } finally {
    stalled.destroy();
  }
  await Promise.all(sent);
  expect(answers.slice(1).map(({ status }) => status)).toEqual(Array(maxWaiting).fill(202));
});

test('clients that declare large bodies but send little do not block other requests', async () => {
  const stalled = await Promise.all(Array.from({ length: 100 }, () => stall(1_000)));
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(server.key, bodyBytes)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  for (const socket of stalled) socket.destroy();
});

test('a body that will be rejected as too large does not block other requests', async () => {
  const stalled = await Promise.all([1, 2].map(() => stall(90_000, 3 * bodyBytes)));
  const other = await server.createKey('not-blocked');
  const answers = await Promise.all([post(server.key, bodyBytes), post(other, bodyBytes)]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  for (const socket of stalled) socket.destroy();
});

test('a body reserves only as much memory as its declared length', async () => {
  await using larger = await startTestServer({ MEMORY_MAX_BODY_BYTES: String(2 * bodyBytes) });
  const stalled = await stall(75_000, 80_000, larger);
  try {
    // If the whole limit were reserved, the body would wait for 30 seconds.
    const answer = await Promise.race([post(larger.key, 80_000, larger), Bun.sleep(15_000)]);
    expect(answer?.status).toBe(202);
  } finally {
    stalled.destroy();
  }
});

test('large MCP messages do not raise the limit for bodies in memory', async () => {
  const authorization = `Bearer ${server.key}`;
  const headers = { authorization, accept, 'content-type': 'application/json' };
  const body = JSON.stringify(list).padEnd(90_000);
  for (let sent = 0; sent < 2; sent += 1) {
    const response = await fetch(`${server.url}/mcp/users/u`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    await response.text();
  }
  const stalled = await stall(90_000);
  const waiting = post(server.key, bodyBytes).then(({ status }) => status);
  const first = await Promise.race([waiting, Bun.sleep(200)]);
  stalled.destroy();
  expect(first).toBeUndefined();
  expect(await waiting).toBe(202);
});

test('a large body that takes more than two minutes to arrive gets a 400', async () => {
  const clock = performance.now;
  const socket = await stall(70_000);
  let text = '';
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  performance.now = () => clock.call(performance) + 121_000;
  try {
    socket.write(' '.repeat(bodyBytes - 70_000));
    const isLate = () => text.includes('did not arrive within 120 seconds');
    await until(isLate, { what: 'the rejection' });
    expect(text).toStartWith('HTTP/1.1 400 ');
  } finally {
    performance.now = clock;
    socket.destroy();
  }
});

test('a large body that pauses after exactly 64 KiB, and again, reserves memory only once', async () => {
  const [first, second] = [64 * 1024, 10_000];
  const lines = ['Content-Type: application/json', `Content-Length: ${bodyBytes}`];
  const begin = head(server, 'POST', path, ...lines) + ' '.repeat(first);
  const record = JSON.stringify({ userId: 'u', data: { text: 'x' } });
  const end = record.padStart(bodyBytes - first - second);
  const { response } = await sendRaw(server, [begin, ' '.repeat(second), end], { pauseMs: 200 });
  expect(response?.status).toBe(202);
});

test.each([
  ['a large body', path, { userId: 'u', data: { text: 'x' } }, 90_000, 202],
  ['an MCP message', '/mcp/users/u', list, 1_000, 200],
])('%s with two equal Content-Lengths counts once', async (_, to, message, bytes, status) => {
  const body = JSON.stringify(message).padEnd(bytes);
  const lines = ['Content-Type: application/json', `Accept: ${accept}`];
  const length = `Content-Length: ${bytes}`;
  for (const lengths of [[length, length], [length]]) {
    const begin = head(server, 'POST', to, ...lines, ...lengths);
    const { response } = await sendRaw(server, [begin, body]);
    expect(response?.status).toBe(status);
  }
});
