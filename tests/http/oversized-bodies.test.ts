import { describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { limits } from '../../sdk/contract/limits.ts';
import { askRaw, expectError, getPage, newUser, save } from '../support/http.ts';
import { startTestServer, type TestServer, withProject } from '../support/server.ts';
import { chunked as chunksOf, dial, exchange, head } from '../support/socket.ts';

const MiB = 1024 * 1024;

const server = await withProject();

const json = 'Content-Type: application/json';
const chunked = 'Transfer-Encoding: chunked';
const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
/** After this many bytes, chunks are sent slowly until the timeout closes the connection. */
const fastBytes = 80 * MiB;

const { id, userId } = await save(server, newUser());

test.each<[route: string, most: number, fields: object]>([
  ['POST /v1/memories', limits.saveBodyBytes, { userId, content: 'x' }],
  ['PATCH /v1/memories/:id', limits.saveBodyBytes, { content: 'x' }],
  ['POST /v1/ingest/chat', limits.bodyBytesDefault, { userId, messages: [{ content: 'x' }] }],
  ['POST /v1/memories/status', limits.bodyBytesDefault, { memoryIds: [id] }],
])('%s accepts at most %i bytes, also in chunks', async (route, most, fields) => {
  const [method = '', path = ''] = route.replace(':id', id).split(' ');
  const text = JSON.stringify(fields);
  const inChunks = (body: string) =>
    exchange(server, head(server, method, path, json, chunked), chunksOf(body));
  for (const send of [inChunks, (body: string) => askRaw(server, method, path, body)]) {
    expect((await send(text.padEnd(most)))?.status).toBeWithin(200, 300);
    const before = await getPage(server, userId);
    // What a body has after the limit is not parsed.
    for (const body of [text.padEnd(most + 1), ' '.repeat(most) + '['.repeat(1_000)]) {
      const refused = await send(body);
      expectError(refused, 413, 'payload_too_large');
      expect(refused?.text).toContain(`at most ${most} bytes`);
    }
    expect((await getPage(server, userId)).items).toHaveLength(before.items.length);
  }
});

describe('a 413 is returned', () => {
  test.each([
    ['6 MiB', 6 * MiB, 6 * MiB],
    ['50 MiB, all sent before the response is read', 50 * MiB, 50 * MiB],
    ['2 GiB declared, nothing sent', 2048 * MiB, 0],
    ['2 GiB declared twice, nothing sent', `${2048 * MiB}\r\nContent-Length: ${2048 * MiB}`, 0],
    ['2 GiB declared, 30 MiB sent', 2048 * MiB, 30 * MiB],
    ['1 PiB declared, 1 MiB sent', 1024 ** 5, MiB],
  ])('for %s', async (_, declared, sent) => {
    const lines = head(server, 'POST', '/v1/ingest', json, `Content-Length: ${declared}`);
    const body = Buffer.alloc(sent, ' ');
    expectError(await exchange(server, lines, body), 413, 'payload_too_large');
  });

  test.concurrent('for endless chunks with a valid key, and the connection is then closed', async () => {
    const lines = head(server, 'POST', '/v1/ingest', json, chunked);
    await Promise.all(
      [
        [lines, 'HTTP/1.1 413 ', '"error":"payload_too_large"'],
        [lines.replace(server.key, 'wrong'), 'HTTP/1.1 401 ', '"error":"unauthorized"'],
      ].map(async ([head = '', status = '', error = '']) => {
        let sentBytes = 0;
        const answer = await upload(server, head, 5, (socket) => {
          const most = sentBytes < fastBytes ? 32 : 1;
          for (let count = 0; count < most && socket.writableLength < MiB; count += 1) {
            socket.write(chunk);
            sentBytes += chunk.length;
          }
        });
        expect(answer.received).toStartWith(status);
        expect(answer.received).toContain(error);
        expect(answer.closed).toBe(true);
        expect(sentBytes).toBeGreaterThan(64 * MiB);
      }),
    );
  });
});

test.concurrent('64 rejected uploads are read, each for at most ten seconds', async () => {
  await using own = await startTestServer();
  const lines = `POST /v1/ingest HTTP/1.1\r\nHost: x\r\nContent-Length: ${50 * MiB}\r\n\r\n`;
  const answers = Array.from({ length: 65 }, async () => {
    const { received, answeredMs, closed } = await upload(own, lines, 250, (socket) => {
      socket.write(' ');
    });
    expect(received).toStartWith('HTTP/1.1 401 ');
    expect(closed).toBe(true);
    return answeredMs;
  });
  const [first = 0, ...others] = (await Promise.all(answers)).sort((a, b) => a - b);
  expect(first).toBeLessThan(5_000);
  for (const elapsedMs of others) expect(elapsedMs).toBeWithin(9_900, 15_000);
});

test.concurrent('a stalled upload does not keep the service from stopping', async () => {
  const own = await startTestServer();
  const stalled = dial(own);
  const lines = ['Content-Type: application/json', `Content-Length: ${100_000}`];
  stalled.write(head(own, 'POST', '/v1/ingest', ...lines) + ' '.repeat(1_000));
  await Bun.sleep(50);
  const begun = performance.now();
  await own.stop();
  expect(performance.now() - begun).toBeLessThan(15_000);
  stalled.destroy();
});

/** Sends the head, and then writes at this interval until the connection closes or 40 s pass. */
function upload(to: TestServer, head: string, everyMs: number, write: (socket: Socket) => void) {
  const begun = performance.now();
  const outcome = { received: '', answeredMs: 0, closed: false };
  return new Promise<typeof outcome>((resolve) => {
    const socket = dial(to);
    const timer = setInterval(() => write(socket), everyMs);
    const deadline = setTimeout(finish, 40_000);
    function finish(): void {
      clearInterval(timer);
      clearTimeout(deadline);
      socket.destroy();
      resolve(outcome);
    }
    socket.on('connect', () => socket.write(head));
    socket.on('data', (data) => {
      outcome.received += data;
      outcome.answeredMs ||= performance.now() - begun;
    });
    socket.on('close', () => {
      outcome.closed = true;
      finish();
    });
  });
}
