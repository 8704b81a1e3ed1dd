import { expect, test } from 'bun:test';
import { save } from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { exchange, head } from '../support/socket.ts';

/* Paths that a router and an auth check could parse differently must not bypass the key check. */

const canary = 'canary';

const server = await withProject();
const { id } = await save(server, 'u', canary);

const targets = [
  ...['/v1/memories/:id', '//v1/memories/:id', '/v1//memories/:id', '/./v1/memories/:id'],
  ...['/health/../v1/memories/:id', '/health/%2e%2e/v1/memories/:id', '/v1/%2e/memories/:id'],
  ...['/%76%31/memories/:id', '/v1%2fmemories/:id', '/v1\\memories\\:id', '/v1/memories/:id;a=b'],
  ...['/v1/memories/:id#health', '/v1/memories/:id%00', '/health?/v1/memories/:id'],
  ...['http://evil.example/v1/memories/:id', 'http://evil.example/health/../v1/memories/:id'],
  ...['http://user:pass@localhost/v1/memories/:id', '/v1/memories?userId=u', '/v1/memories/:id?'],
  ...['/v1/memories/:id/', '/v1/memories/:id/.', '/v1/memories/:id%2f', '/V1/MEMORIES/:id'],
  ...['/openapi.json/../v1/memories/:id', '/health\\..\\v1\\memories\\:id'],
  '/health%00/v1/memories/:id',
];
const hosts = ['', 'x/health?', 'evil.example/health#', 'a b', '[::1', 'x:99999', 'é'];
const requests = [
  ...targets.map((target) => [target, 'localhost'] as const),
  ...hosts.map((host) => ['/v1/memories/:id', host] as const),
];

test.each(requests)('nothing is revealed without a key: %s (Host: %s)', async (target, host) => {
  const line = `GET ${target.replace(':id', id)} HTTP/1.1`;
  const answer = await exchange(server, `${line}\r\nHost: ${host}\r\n\r\n`);
  expect(answer?.text ?? '').not.toContain(canary);
  const isHealth = answer?.status === 200 && answer.text.includes('"pending"');
  expect(isHealth || [400, 401, 404, 414, 429, undefined].includes(answer?.status)).toBe(true);
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
  const request = `GET /v1/memories/${id} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`;
  expect(await exchange(server, request)).toMatchObject({ status: 401 });
});

test('a key in the query string is not accepted', async () => {
  const query = `access_token=${server.key}&api_key=${server.key}`;
  const response = await fetch(`${server.url}/v1/memories/${id}?${query}`);
  expect(response.status).toBe(401);
});

test('a request with two Authorization headers is rejected, in either order', async () => {
  const keys = [server.key, 'mk_wrong_key_wrong_key'];
  for (const both of [keys, keys.toReversed()]) {
    const lines = both.map((key) => `Authorization: Bearer ${key}\r\n`);
    const request = `GET /v1/memories/${id} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`;
    const answer = await exchange(server, request);
    expect([400, 401, 429]).toContain(answer?.status ?? 0);
    expect(answer?.text).not.toContain(canary);
  }
});

test('an unknown method is not an internal error', async () => {
  for (const method of ['BREW', 'TRACE', 'PROPFIND', 'CONNECT']) {
    const answer = await exchange(server, head(server, method, '/v1/memories'));
    expect([400, 404, 405, 501, undefined]).toContain(answer?.status);
  }
});
