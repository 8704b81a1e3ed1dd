import { describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { limits } from '../../sdk/contract/limits.ts';
import { askRaw, bodyOf, expectError, getPage, newUser } from '../support/http.ts';
import { startTestServer, type TestServer, withProject } from '../support/server.ts';
import { exchange, head } from '../support/socket.ts';

/* A body over the limit gets a 413 with a JSON error, for any size and framing. */

const MiB = 1024 * 1024;

const server = await withProject();

const json = 'Content-Type: application/json';
const chunked = 'Transfer-Encoding: chunked';

const textOf = (bytes: number, fields: object) => {
  const text = JSON.stringify(fields);
  return text + ' '.repeat(bytes - text.length);
};

test('a save and an update accept at most 1 MiB', async () => {
  const most = limits.saveBodyBytes;
  const save = { userId: newUser(), content: 'x' };
  const answer = await askRaw(server, 'POST', '/v1/memories', textOf(most, save));
  const { id } = bodyOf<{ id: string }>(answer, 201);
  const path = `/v1/memories/${id}`;
  bodyOf(await askRaw(server, 'PATCH', path, textOf(most, { content: 'y' })), 200);
  const requests = [
    ['POST', '/v1/memories', textOf(most + 1, save)],
    ['PATCH', path, textOf(most + 1, { content: 'z' })],
  ] as const;
  for (const [method, path, body] of requests) {
    const refused = await askRaw(server, method, path, body);
    expectError(refused, 413, 'payload_too_large');
    expect(refused.text).toContain(`at most ${most} bytes`);
  }
  expect((await getPage(server, save.userId)).items).toMatchObject([{ content: 'y' }]);
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
    const [known, unknown] = await Promise.all([
      sendEndlessly(server, lines),
      sendEndlessly(server, lines.replace(server.key, 'wrong')),
    ]);
    expect(known.received).toStartWith('HTTP/1.1 413 ');
    expect(known.received).toContain('"error":"payload_too_large"');
    expect(unknown.received).toStartWith('HTTP/1.1 401 ');
    for (const { sentBytes } of [known, unknown]) expect(sentBytes).toBeGreaterThan(64 * MiB);
    expect([known.closed, unknown.closed]).toEqual([true, true]);
  });
});

test.concurrent('64 rejected uploads are read, each for at most ten seconds', async () => {
  await using own = await startTestServer();
  const lines = `POST /v1/ingest HTTP/1.1\r\nHost: x\r\nContent-Length: ${50 * MiB}\r\n\r\n`;
  const answers = Array.from({ length: 65 }, async () => {
    const { status, elapsedMs, closed } = await drip(own, lines);
    expect({ status, closed }).toEqual({ status: 401, closed: true });
    return elapsedMs;
  });
  const [first = 0, ...others] = (await Promise.all(answers)).sort((a, b) => a - b);
  expect(first).toBeLessThan(5_000);
  for (const elapsedMs of others) expect(elapsedMs).toBeWithin(9_900, 15_000);
});

test.concurrent('a stalled upload does not keep the service from stopping', async () => {
  const own = await startTestServer();
  const { hostname, port } = new URL(own.url);
  const stalled = connect(Number(port), hostname);
  stalled.on('error', () => {});
  const lines = ['Content-Type: application/json', `Content-Length: ${100_000}`];
  stalled.write(head(own, 'POST', '/v1/ingest', ...lines) + ' '.repeat(1_000));
  await Bun.sleep(50);
  const begun = performance.now();
  await own.stop();
  expect(performance.now() - begun).toBeLessThan(15_000);
  stalled.destroy();
});

/** After this many bytes, chunks are sent slowly until the timeout closes the connection. */
const fastBytes = 80 * MiB;

/** Sends chunks until the connection closes, for at most 40 s. */
function sendEndlessly(server: TestServer, head: string) {
  const { hostname, port } = new URL(server.url);
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
  type Outcome = { received: string; sentBytes: number; closed: boolean };
  return new Promise<Outcome>((resolve) => {
    let received = '';
    let sentBytes = 0;
    const socket = connect(Number(port), hostname);
    const timer = setInterval(() => {
      const most = sentBytes < fastBytes ? 32 : 1;
      for (let count = 0; count < most && socket.writableLength < MiB; count += 1) {
        socket.write(chunk);
        sentBytes += chunk.length;
      }
    }, 5);
    const deadline = setTimeout(() => finish(false), 40_000);
    function finish(closed: boolean): void {
      clearInterval(timer);
      clearTimeout(deadline);
      socket.destroy();
      resolve({ received, sentBytes, closed });
    }
    socket.on('connect', () => socket.write(head));
    socket.on('data', (data) => {
      received += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => finish(true));
  });
}

/** Sends one byte every 250 ms until the connection closes. Returns when the response arrived. */
function drip(server: TestServer, head: string) {
  const { hostname, port } = new URL(server.url);
  type Outcome = { status: number; elapsedMs: number; closed: boolean };
  return new Promise<Outcome>((resolve) => {
    const begun = performance.now();
    const outcome = { status: 0, elapsedMs: 0, closed: false };
    const socket = connect(Number(port), hostname);
    socket.on('connect', () => socket.write(head));
    const timer = setInterval(() => socket.write(' '), 250);
    const deadline = setTimeout(finish, 40_000);
    function finish(): void {
      clearInterval(timer);
      clearTimeout(deadline);
      socket.destroy();
      resolve(outcome);
    }
    socket.once('data', (data) => {
      outcome.status = Number(String(data).split(' ')[1]);
      outcome.elapsedMs = performance.now() - begun;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      outcome.closed = true;
      finish();
    });
  });
}
