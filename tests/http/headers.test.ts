import { describe, expect, test } from 'bun:test';
import { type Answer, ask, newUser, readAnswer } from '../support/http.ts';
import { send, type TestServer, withProject, withServer } from '../support/server.ts';
import { head, sendRaw } from '../support/socket.ts';

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

/* `readAnswer` checks the headers of all responses that other tests get. */

describe('a request id', () => {
  const ofPreflight = { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' };

  test.each<[method: string, path: string, status: number, headers?: Record<string, string>]>([
    ['GET', '/health', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/v1/memories?userId=u', 200],
    ['HEAD', '/v1/memories?userId=u', 200],
    ['OPTIONS', '/v1/memories', 204, ofPreflight],
    ['GET', '/v1/memories', 400],
    ['GET', '/v1/memories', 401, { authorization: 'Bearer wrong' }],
    ['GET', '/none', 404],
    ['PUT', '/v1/memories', 405],
    ['POST', '/v1/memories', 415, { 'content-type': 'text/plain' }],
  ])('is that of the client: %s %s %i', async (...given) => {
    const [method, path, status, headers] = given;
    const body = method === 'POST' ? { body: {} } : {};
    const own = { ...headers, 'x-request-id': 'trace/7:42' };
    const response = await send(server, method, path, { headers: own, ...body });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toBe('trace/7:42');
    if (status >= 400) expect(await response.json()).toMatchObject({ requestId: 'trace/7:42' });
  });

  async function answeredTo(...lines: string[]) {
    const { response } = await sendRaw(server, [head(server, 'GET', '/health/live', ...lines)]);
    return response?.headers.get('x-request-id');
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
