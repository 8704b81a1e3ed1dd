import { describe, expect, test } from 'bun:test';
import type { ErrorBody } from '../../sdk/contract/errors.ts';
import { operations } from '../../sdk/contract/operations.ts';
import { document } from '../support/document.ts';
import { ask, bodyOf, expectError, readAnswer, save } from '../support/http.ts';
import { withServer } from '../support/server.ts';

const server = await withServer();
const known = (await save(server, 'known')).id;

const routes = Object.values(operations);
const withId = (path: string, id: string) => path.replace(':id', id);

describe('authentication', () => {
  const missing = 'a valid API key is required: send the header';
  const wrong = 'the API key is unknown, expired or revoked';
  test('a request without a key returns 401', async () => {
    const answer = await readAnswer(await fetch(`${server.url}/v1/memories`));
    expectError(answer, 401, 'unauthorized');
    expect(answer.text).toContain(missing);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('ratelimit')).toBeNull();
  });

  const key = () => server.key;
  test.each<[name: string, header: () => string, message: string]>([
    ['an unknown key', () => `Bearer mk_${'x'.repeat(38)}`, wrong],
    ['a truncated key', () => `Bearer ${key().slice(0, -1)}`, wrong],
    ['a key with an extra character', () => `Bearer ${key()}x`, wrong],
    ['a key in upper case', () => `Bearer ${key().toUpperCase()}`, wrong],
    ['no key', () => 'Bearer', missing],
    ['two keys', () => `Bearer ${key()} ${key()}`, missing],
    ['a key without a scheme', key, missing],
    ['another scheme', () => `Basic ${btoa(`:${key()}`)}`, missing],
    ['another scheme with the key', () => `Token ${key()}`, missing],
    ['a quoted key', () => `Bearer "${key()}"`, wrong],
    ['a very long key', () => `Bearer ${'x'.repeat(4_000)}`, missing],
    ['a key after a path', () => `Bearer ../${key()}`, wrong],
  ])('%s', async (_, header, message) => {
    const headers = { authorization: header() };
    const answer = await ask(server, 'GET', `/v1/memories/${known}`, { headers });
    expectError(answer, 401, 'unauthorized');
    expect(answer.text).toContain(message);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.text).not.toContain(key());
  });

  test.each(['bearer', 'BEARER'])('accepts the scheme "%s"', async (scheme) => {
    const headers = { authorization: `${scheme} ${key()}` };
    expect((await ask(server, 'GET', `/v1/memories/${known}`, { headers })).status).toBe(200);
  });
});

test('an error describes at most 20 fields, as documented', async () => {
  const body = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`unknown${n}`, n]));
  const { details } = (await ask(server, 'POST', '/v1/memories', { body })).body as ErrorBody;
  expect(details).toHaveLength(20);
  const documented = { properties: { details: { maxItems: 20 } } };
  expect(document.components.schemas.Error).toMatchObject(documented);
});

describe('not found', () => {
  const unknownRoutes = [
    ...['/v1', '/v1/', '/v1/nope', '/v1/ingest/', '/v1/ingest/nope', '/v1/ingest/batch/nope'],
    ...['/v1/memories/', '/v1/memories/x/nope', '/v1/memories/x/status/'],
    ...['/v1/memories/x/status/nope', '/v1/memories/search/', '/v1/memories/search/nope'],
    ...['/v1/export/', '/v1/export/nope', '/v1/import/'],
  ];
  test.each(unknownRoutes)('the unknown route %s returns 404', async (path) => {
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT']) {
      expectError(await ask(server, method, path), 404, 'not_found');
    }
  });

  test.each(['/nope', '/V1/memories', '/v2/memories', '/health/', '/openapi.json/'])(
    'the unknown route %s returns 404 without a key',
    async (path) => {
      const answer = await readAnswer(await fetch(server.url + path));
      expectError(answer, 404, 'not_found');
    },
  );

  const ids: [name: string, id: string][] = [
    ['unknown', 'mem_0199c2a4f1e87c3d9b5e6a7f80912b3c'],
    ['malformed', 'nope'],
    ['with NUL', '%00'],
    ['not UTF-8', '%ff%fe'],
    ['badly encoded', '%zz'],
    ['with slashes', '..%2f..%2fhealth'],
    ['an injection', "'%20OR%20'1'='1"],
    ['in upper case', 'MEM_0199C2A4F1E87C3D9B5E6A7F80912B3C'],
    ['very long', 'x'.repeat(4_000)],
  ];
  test.each(ids)('an unknown id returns 404: %s', async (_, id) => {
    const path = `/v1/memories/${id}`;
    const body = { content: 'x' };
    expectError(await ask(server, 'GET', path), 404, 'not_found');
    expectError(await ask(server, 'GET', `${path}/status`), 404, 'not_found');
    expectError(await ask(server, 'PATCH', path, { body }), 404, 'not_found');
    expectError(await ask(server, 'DELETE', path), 404, 'not_found');
  });

  test('a 404 does not repeat the id', async () => {
    expect((await ask(server, 'GET', '/v1/memories/canary')).text).not.toContain('canary');
  });
});

describe('method not allowed', () => {
  const paths = [...new Set(routes.map(({ path }) => path))];
  const methodsOf = (path: string): string[] => [
    ...new Set(routes.filter((route) => route.path === path).map(({ method }) => method)),
  ];
  const others = paths.flatMap((path) =>
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
      .filter((method) => !methodsOf(path).includes(method))
      .map((method) => [method, path] as const),
  );

  test.each(others)('%s %s returns 405 with the allowed methods', async (method, path) => {
    const answer = await ask(server, method, withId(path, known));
    expectError(answer, 405, 'method_not_allowed');
    const allowed = methodsOf(path);
    if (allowed.includes('GET')) allowed.push('HEAD');
    expect(answer.headers.get('allow')?.split(', ')).toEqual(allowed.sort());
  });

  const pages = ['/', '/console', '/docs', '/health/live', '/metrics', '/openapi.json'];
  test.each(pages)('POST and OPTIONS %s return 405', async (path) => {
    for (const method of ['POST', 'OPTIONS']) {
      const answer = await ask(server, method, path);
      expectError(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe('GET, HEAD');
    }
  });

  test('405 takes precedence over 404 for an unknown id', async () => {
    expectError(await ask(server, 'PUT', '/v1/memories/nope'), 405, 'method_not_allowed');
  });

  test('a path that could be an id gets a 405, whatever else is wrong with the request', async () => {
    const path = '/v1/memories/status';
    const body = { content: 'x' };
    for (const answer of [
      await ask(server, 'PATCH', path, { body }),
      await ask(server, 'GET', `${path}?memoryIds=a`),
      await ask(server, 'DELETE', path, { headers: { 'if-match': 'x' } }),
    ]) {
      expectError(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe('POST');
    }
    const { status } = await fetch(server.url + path, { method: 'DELETE' });
    expect(status).toBe(401);
  });
});

test('an empty cursor and a parameter without a name are reported as such', async () => {
  const message = async (query: string) =>
    bodyOf<{ message: string }>(await ask(server, 'GET', `/v1/memories?userId=a&${query}`), 400)
      .message;
  expect(await message('cursor=')).toContain('cursor: must not be empty');
  expect(await message('=b')).toContain('a parameter without a name');
});

test('every response has a different X-Request-Id', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask(server, 'GET', '/v1/nope')),
  );
  const ids = answers.map((answer) => bodyOf<{ requestId: string }>(answer, 404).requestId);
  expect(new Set(ids).size).toBe(20);
});
