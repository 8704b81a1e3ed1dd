import { expect, test } from 'bun:test';
import { save } from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { sendRaw } from '../support/socket.ts';
import { hosts, paths, pieces } from './raw-requests.ts';

/*
 * Bytes that no HTTP library would send cause neither a 5xx response, a hang, nor an exit. Paths
 * that a router and an auth check could parse differently do not bypass the key check.
 */

const server = await withProject();
const canary = 'canary';
const { id } = await save(server, 'u', canary);

/** Sends the parts and expects a response or a closed connection. */
async function replyTo(parts: (string | Uint8Array)[], pauseMs = 0) {
  const { response, ended } = await sendRaw(server, parts, { pauseMs });
  expect(ended).not.toBe('waiting');
  const { status = 0 } = response ?? {};
  const body = (await response?.text()) ?? '';
  // 505 is the correct response to an unsupported version of HTTP.
  if (status >= 500) expect({ status, body }).toMatchObject({ status: 505 });
  if (status >= 400 && body !== '' && !body.startsWith('<'))
    expect(JSON.parse(body)).toMatchObject({ message: expect.stringMatching(/\S/) });
  return { status: response?.status ?? null, body };
}

const auth = () => `Authorization: Bearer ${server.key}`;
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const own = `/v1/memories/${id}`;

test.each([
  ...paths.map((path) => [path, 'localhost'] as const),
  ...hosts.map((host) => ['/v1/memories/:id', host] as const),
])('the path %s (Host: %s) is handled, and reveals nothing without a key', async (path, host) => {
  const lines = [`GET ${path.replace(':id', id)} HTTP/1.1`, `Host: ${host}`];
  await replyTo([head(...lines, auth())]);
  const { status, body } = await replyTo([head(...lines)]);
  expect(body).not.toContain(canary);
  if (status === 200) expect(body).toMatch(/"pending"|"name":"memory-service"/);
});

test.each([
  'X-Original-URL: /health',
  'X-Rewrite-URL: /health',
  'X-Forwarded-Prefix: /health',
  'X-HTTP-Method-Override: GET',
  'X-Forwarded-For: 127.0.0.1',
  'X-Forwarded-Host: localhost',
  'Forwarded: for=127.0.0.1',
  'X-Api-Key: admin',
  'Cookie: key=admin',
  'Connection: Authorization',
])('a header does not replace the key: %s', async (header) => {
  const { status } = await replyTo([head(`GET ${own} HTTP/1.1`, 'Host: localhost', header)]);
  expect(status).toBe(401);
});

test('a key in the query string is not accepted', async () => {
  const query = `access_token=${server.key}&api_key=${server.key}`;
  expect((await fetch(`${server.url}${own}?${query}`)).status).toBe(401);
});

test.each(pieces)('%s', async (_, text, ...expected) => {
  const { status } = await replyTo([text.replaceAll('\n', '\r\n').replaceAll('<auth>', auth())]);
  if (expected.length > 0) expect(expected).toContain(status);
});

const thousand = Array.from({ length: 1_000 }, (_, n) => `X-${n}: 1`);
test.each([
  ['a TLS handshake', new Uint8Array([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])],
  ['a header of 20 kB', head('GET /health HTTP/1.1', 'Host: x', `X-Long: ${'x'.repeat(20_000)}`)],
  ['a thousand headers', head('GET /health HTTP/1.1', 'Host: x', ...thousand)],
])('%s', async (_, bytes) => void (await replyTo([bytes])));

test('a request one byte at a time', async () => {
  const body = '{"userId":"u","content":"x"}';
  const json = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  const text = head('POST /v1/memories HTTP/1.1', 'Host: x', auth(), ...json);
  const parts = [...text.slice(0, 40), text.slice(40), ...body];
  expect(await replyTo(parts, 2)).toMatchObject({ status: 201 });
});

test('the server still responds', async () => {
  const { status } = await replyTo([head('GET /health/live HTTP/1.1', 'Host: x')]);
  expect(status).toBe(200);
});
