import { expect, test } from 'bun:test';
import { bodyOf, sendRaw } from '../support/raw.ts';
import { withProject } from '../support/server.ts';
import { hosts, paths, pieces } from './raw-requests.ts';

/* Bytes that no HTTP library would send cause neither a 5xx response, a hang, nor an exit. */

const server = await withProject();

/** Sends the parts and expects a response or a closed connection. */
async function statusOf(parts: (string | Uint8Array)[], pauseMs = 0): Promise<number | null> {
  const reply = await sendRaw(server.url, parts, { pauseMs });
  expect(reply.ended).not.toBe('waiting');
  const { status } = reply;
  // 505 is the correct response to an unsupported version of HTTP.
  if ((status ?? 0) >= 500) expect({ status, body: bodyOf(reply) }).toMatchObject({ status: 505 });
  if ((status ?? 0) >= 400 && bodyOf(reply) !== '' && !bodyOf(reply).startsWith('<'))
    expect(JSON.parse(bodyOf(reply))).toMatchObject({ message: expect.stringMatching(/\S/) });
  return status;
}

const auth = () => `Authorization: Bearer ${server.key}`;
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

test.each(paths)('the path %s', async (path) => {
  await statusOf([head(`GET ${path} HTTP/1.1`, 'Host: localhost', auth())]);
});

test.each(hosts)('the host %s', async (host) => {
  await statusOf([head('GET /v1/memories?userId=u HTTP/1.1', `Host: ${host}`, auth())]);
});

test.each(pieces)('%s', async (_, text, ...expected) => {
  const status = await statusOf([text.replaceAll('\n', '\r\n').replace('<auth>', auth())]);
  if (expected.length > 0) expect(expected).toContain(status);
});

test('a TLS handshake', async () => {
  await statusOf([new Uint8Array([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])]);
});

test.each([
  ['a header of 20 kB', [`X-Long: ${'x'.repeat(20_000)}`]],
  ['a thousand headers', Array.from({ length: 1_000 }, (_, n) => `X-${n}: 1`)],
])('%s', async (_, lines) => {
  await statusOf([head('GET /health HTTP/1.1', 'Host: x', ...lines)]);
});

const body = '{"userId":"u","content":"x"}';

test('a request one byte at a time', async () => {
  const json = 'Content-Type: application/json';
  const length = `Content-Length: ${body.length}`;
  const text = head('POST /v1/memories HTTP/1.1', 'Host: x', auth(), json, length);
  const parts = [...text.slice(0, 40), text.slice(40), ...body];
  expect(await statusOf(parts, 2)).toBe(201);
});

test('gzip', async () => {
  const bytes = Bun.gzipSync(Buffer.from(body));
  const lines = ['Content-Type: application/json', 'Content-Encoding: gzip'];
  const length = `Content-Length: ${bytes.length}`;
  const text = head('POST /v1/memories HTTP/1.1', 'Host: x', auth(), ...lines, length);
  expect(await statusOf([text, bytes])).toBe(415);
});

test('the server still responds', async () => {
  expect(await statusOf([head('GET /health/live HTTP/1.1', 'Host: x')])).toBe(200);
});
