import { describe, expect, test } from 'bun:test';
import { sendRaw } from '../support/raw.ts';
import { send, withServer } from '../support/server.ts';
import { head } from '../support/socket.ts';

/* The headers that every response has, for any route and outcome. */

const origin = 'https://app.example';
const env = { MEMORY_CORS_ORIGINS: origin, MEMORY_RATE_LIMIT: '100/3600' };

const server = await withServer(env);
const spent = await withServer({ MEMORY_RATE_LIMIT: '1/3600' });
await send(spent, 'GET', '/v1/none');

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
  ['GET', '/v1/none', 429],
];

test.each(cases)('%s %s %i', async (...given) => {
  const [method, path, status, options] = given;
  const to = status === 429 ? spent : server;
  for (const own of [undefined, 'trace/7:42']) {
    const headers = { ...options?.headers, ...(own && { 'x-request-id': own }) };
    const response = await send(to, method, path, { ...options, headers });
    expect(response.status).toBe(status);
    const requestId = own ?? expect.stringMatching(/^req_[0-9a-f]{32}$/);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
    });
    if (status >= 400) expect(await response.json()).toMatchObject({ requestId });
  }
});

describe('a request id', () => {
  async function answeredTo(...lines: string[]): Promise<string | undefined> {
    const { text } = await sendRaw(server.url, [head(server, 'GET', '/health/live', ...lines)]);
    return /^x-request-id: (.*)$/im.exec(text)?.[1]?.trim();
  }

  test('of 1 to 128 characters is used', async () => {
    for (const id of ['!', 'x'.repeat(128)]) {
      expect(await answeredTo(`X-Request-Id: ${id}`)).toBe(id);
    }
  });

  test.each([
    ['of 129 characters', [`X-Request-Id: ${'x'.repeat(129)}`]],
    ['with a space', ['X-Request-Id: a b']],
    ['with a non-ASCII character', ['X-Request-Id: é']],
    ['that is empty', ['X-Request-Id:']],
    ['given twice', ['X-Request-Id: a', 'X-Request-Id: b']],
  ])('%s is replaced by a new one', async (_, lines) => {
    const ids = [await answeredTo(...lines), await answeredTo(...lines)];
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(ids[0]).not.toBe(ids[1] ?? '');
  });
});
