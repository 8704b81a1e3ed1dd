import { describe, expect, test } from 'bun:test';
import { sendRaw } from '../support/raw.ts';
import { send, startTestServer, withServer } from '../support/server.ts';
import { head } from '../support/socket.ts';

/* The headers that every response has, for any route and outcome. */

const origin = 'https://app.example';
const env = { MEMORY_CORS_ORIGINS: origin, MEMORY_RATE_LIMIT: '100/3600' };

const server = await withServer(env);

const preflight = { origin, 'access-control-request-method': 'POST' };
const body = { userId: 'u', content: 'x' };

type Case = [method: string, path: string, status: number, options?: Parameters<typeof send>[3]];
const cases: Case[] = [
  ['GET', '/health', 200],
  ['GET', '/health/live', 200],
  ['GET', '/openapi.json', 200],
  ['POST', '/v1/memories', 201, { body }],
  ['GET', '/v1/memories?userId=u', 200],
  ['DELETE', '/v1/memories?userId=none', 200],
  ['HEAD', '/v1/memories?userId=u', 200],
  ['GET', '/v1/memories', 400],
  ['POST', '/v1/memories', 400, { body: {} }],
  ['GET', '/v1/memories?userId=u', 401, { headers: { authorization: 'Bearer wrong' } }],
  ['GET', '/v1/memories/none', 404],
  ['GET', '/v1/none', 404],
  ['GET', '/none', 404],
  ['PUT', '/v1/memories', 405],
  ['OPTIONS', '/v1/memories', 405, { headers: { origin } }],
  ['OPTIONS', '/v1/memories', 204, { headers: preflight }],
  ['POST', '/v1/memories', 413, { body: { ...body, content: 'x'.repeat(2_000_000) } }],
  ['POST', '/v1/memories', 415, { body, headers: { 'content-type': 'text/plain' } }],
];

describe.each(cases)('%s %s %i', (method, path, status, options) => {
  test('forbids caching and sniffing, and has a request id', async () => {
    const response = await send(server, method, path, options);
    expect(response.status).toBe(status);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test("returns the client's request id", async () => {
    const headers = { ...options?.headers, 'x-request-id': 'trace/7:42' };
    const response = await send(server, method, path, { ...options, headers });
    expect(response.headers.get('x-request-id')).toBe('trace/7:42');
    const text = await response.text();
    if (status >= 400) expect(JSON.parse(text)).toMatchObject({ requestId: 'trace/7:42' });
  });
});

test('a 429 has the same headers', async () => {
  await using spent = await startTestServer({ MEMORY_RATE_LIMIT: '1/3600' });
  await send(spent, 'GET', '/v1/none');
  const response = await send(spent, 'GET', '/v1/none', { headers: { 'x-request-id': 'mine' } });
  expect(response.status).toBe(429);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('x-request-id')).toBe('mine');
});

describe('a request id', () => {
  async function answeredTo(...lines: string[]): Promise<string | undefined> {
    const { text } = await sendRaw(server.url, [head(server, 'GET', '/health/live', ...lines)]);
    return /^x-request-id: (.*)$/im.exec(text)?.[1]?.trim();
  }

  test.each([
    ['of 1 character', '!'],
    ['of 128 characters', 'x'.repeat(128)],
  ])('%s is used', async (_, id) => {
    expect(await answeredTo(`X-Request-Id: ${id}`)).toBe(id);
  });

  test.each([
    ['of 129 characters', [`X-Request-Id: ${'x'.repeat(129)}`]],
    ['with a space', ['X-Request-Id: a b']],
    ['with a non-ASCII character', ['X-Request-Id: é']],
    ['that is empty', ['X-Request-Id:']],
    ['given twice', ['X-Request-Id: a', 'X-Request-Id: b']],
  ])('%s is replaced', async (_, lines) => {
    expect(await answeredTo(...lines)).toMatch(/^req_[0-9a-f]{32}$/);
  });
});
