import { describe, expect, test } from 'bun:test';
import { type Answer, ask, newUser, readAnswer } from '../support/http.ts';
import { type TestServer, withProject, withServer } from '../support/server.ts';

const allowed = ['https://app.example', 'http://localhost:5173'];
const strangers = [
  ...['https://evil.example', 'http://app.example', 'https://app.example:8443', 'null', '*'],
  ...['https://app.example.evil.example', 'https://sub.app.example', 'https://APP.example'],
];

const sendable = 'authorization content-type idempotency-key if-match if-none-match x-request-id';
const readable =
  'x-request-id etag idempotency-status location ratelimit ratelimit-policy retry-after';

const server = await withServer({ MEMORY_CORS_ORIGINS: allowed.join(', ') });
const closed = await withProject();

async function preflight(of: TestServer, origin: string, method = 'POST'): Promise<Answer> {
  const headers = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type,idempotency-key',
  };
  return readAnswer(await fetch(`${of.url}/v1/memories`, { method: 'OPTIONS', headers }));
}

function listOf(answer: Answer, name: string): string[] {
  return (answer.headers.get(name) ?? '').toLowerCase().split(', ');
}

function corsHeaders({ headers }: Answer): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'));
}

describe.each(allowed)('from %s', (origin) => {
  test.each(['GET', 'POST', 'PATCH', 'DELETE'])('a preflight allows %s', async (method) => {
    const answer = await preflight(server, origin, method);
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('access-control-max-age')).toBe('600');
    expect(listOf(answer, 'access-control-allow-methods')).toContain(method.toLowerCase());
    expect(listOf(answer, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining([...sendable.split(' '), 'traceparent']),
    );
    expect(listOf(answer, 'vary')).toContain('origin');
  });

  test.each<[path: string, status: number, key: string]>([
    ['/v1/memories', 201, server.key],
    ['/v1/ingest', 400, server.key],
    ['/v1/nope', 404, server.key],
    ['/v1/memories', 401, 'mk_wrong_key_wrong_key'],
  ])('the page can read the response to POST %s: %i', async (path, status, key) => {
    const body = { userId: newUser(), content: 'x' };
    const headers = { origin, authorization: `Bearer ${key}` };
    const answer = await ask(server, 'POST', path, { headers, body });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(listOf(answer, 'vary')).toContain('origin');
    expect(listOf(answer, 'access-control-expose-headers')).toEqual(
      expect.arrayContaining(readable.split(' ')),
    );
  });
});

test.each(strangers)(
  'from %s, a preflight allows nothing and no response can be read',
  async (origin) => {
    const answer = await preflight(server, origin);
    expect(answer.status).toBe(401);
    expect(corsHeaders(answer)).toEqual([]);
    const body = { userId: newUser(), content: 'x' };
    const other = await ask(server, 'POST', '/v1/memories', { headers: { origin }, body });
    expect(corsHeaders(other)).toEqual([]);
  },
);

test('if any origin is allowed, responses have Vary: Origin, so that caches separate origins', async () => {
  const answer = await ask(server, 'GET', '/v1/memories?userId=u');
  expect(listOf(answer, 'vary')).toContain('origin');
});

test('without MEMORY_CORS_ORIGINS, no origin is allowed', async () => {
  for (const origin of allowed) {
    expect(corsHeaders(await preflight(closed, origin))).toEqual([]);
    const answer = await ask(closed, 'GET', '/v1/memories?userId=u', { headers: { origin } });
    expect(answer.status).toBe(200);
    expect(corsHeaders(answer)).toEqual([]);
    expect(answer.headers.has('vary')).toBe(false);
  }
});

test('only an OPTIONS request is answered as a preflight', async () => {
  const headers = { origin: allowed[0] ?? '', 'access-control-request-method': 'POST' };
  const body = { userId: newUser(), content: 'x' };
  expect((await ask(server, 'POST', '/v1/memories', { headers, body })).status).toBe(201);
});
