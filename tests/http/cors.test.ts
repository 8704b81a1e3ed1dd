import { describe, expect, test } from 'bun:test';
import { type Answer, ask, newUser, readAnswer } from '../support/http.ts';
import { type TestServer, withProject, withServer } from '../support/server.ts';

const allowed = ['https://app.example', 'http://localhost:5173'];
const strangers = [
  ...['https://evil.example', 'http://app.example', 'https://app.example:8443', 'null', '*'],
  ...['https://app.example.evil.example', 'https://sub.app.example', 'https://APP.example'],
];

const server = await withServer({ MEMORY_CORS_ORIGINS: allowed.join(', ') });
const closed = await withProject();

async function preflight(of: TestServer, origin: string, method = 'POST'): Promise<Answer> {
  const headers = { origin, 'access-control-request-method': method };
  return readAnswer(await fetch(`${of.url}/v1/memories`, { method: 'OPTIONS', headers }));
}

/** The headers of a response that concern other origins, in lower case. */
function corsHeaders({ headers }: Answer): Record<string, string> {
  const own = [...headers].filter(([name]) => /^(?:access-control-.*|vary)$/.test(name));
  return Object.fromEntries(own.map(([name, value]) => [name, value.toLowerCase()]));
}

const post = (to: TestServer, path: string, headers: Record<string, string>) =>
  ask(to, 'POST', path, { headers, body: { userId: newUser(), content: 'x' } });

describe.each(allowed)('from %s', (origin) => {
  const ofOrigin = { 'access-control-allow-origin': origin, vary: 'origin' };

  test.each(['GET', 'POST', 'PATCH', 'DELETE'])('a preflight for %s gets 204', async (method) => {
    const answer = await preflight(server, origin, method);
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(corsHeaders(answer)).toEqual({
      ...ofOrigin,
      'access-control-allow-methods': 'get, post, patch, delete',
      'access-control-allow-headers':
        'authorization, idempotency-key, x-request-id, traceparent, content-type, ' +
        'if-match, if-none-match, mcp-protocol-version, mcp-method, mcp-name',
      'access-control-max-age': '600',
    });
  });

  test.each<[path: string, status: number, key: string]>([
    ['/v1/memories', 201, server.key],
    ['/v1/ingest', 400, server.key],
    ['/v1/nope', 404, server.key],
    ['/v1/memories', 401, 'mk_wrong_key_wrong_key'],
  ])('the page can read the response to POST %s: %i', async (path, status, key) => {
    const headers = { authorization: `Bearer ${key}`, 'access-control-request-method': 'POST' };
    const answer = await post(server, path, { origin, ...headers });
    expect(answer.status).toBe(status);
    expect(corsHeaders(answer)).toEqual({
      ...ofOrigin,
      'access-control-expose-headers':
        'x-request-id, idempotency-status, ratelimit, ratelimit-policy, retry-after, ' +
        'etag, location',
    });
  });
});

test.each(strangers)('from %s, nothing is allowed and no response can be read', async (origin) => {
  const answer = await preflight(server, origin);
  expect(answer.status).toBe(401);
  // Caches must tell origins apart.
  expect(corsHeaders(answer)).toEqual({ vary: 'origin' });
  expect(corsHeaders(await post(server, '/v1/memories', { origin }))).toEqual({ vary: 'origin' });
});

test('a request without an origin has Vary, too', async () => {
  expect(corsHeaders(await post(server, '/v1/memories', {}))).toEqual({ vary: 'origin' });
});

test('without MEMORY_CORS_ORIGINS, no origin is allowed', async () => {
  for (const origin of allowed) {
    expect(corsHeaders(await preflight(closed, origin))).toEqual({});
    const answer = await post(closed, '/v1/memories', { origin });
    expect(answer.status).toBe(201);
    expect(corsHeaders(answer)).toEqual({});
  }
});
