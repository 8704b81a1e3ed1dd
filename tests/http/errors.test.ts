import { describe, expect, test } from 'bun:test';
import type { ErrorBody } from '../../sdk/contract/errors.ts';
import { operations } from '../../sdk/contract/operations.ts';
import { document } from '../support/document.ts';
import { ask, expectError, readAnswer, save } from '../support/http.ts';
import { withServer } from '../support/server.ts';

const server = await withServer();
const known = (await save(server, 'known')).id;

const routes = Object.values(operations);

describe('authentication', () => {
  const missing = 'a valid API key is required: send the header';
  const wrong = 'the API key is unknown, expired or revoked';
  const key = () => server.key;
  test.each<[name: string, header: () => string, message: string]>([
    ['no header', () => '', missing],
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
    expect(answer.headers.get('ratelimit')).toBeNull();
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

  test.each(['/nope', '/V1/memories', '/v2/memories', '/health/', '/openapi.json/', '/mcpx'])(
    'the unknown route %s returns 404 without a key',
    async (path) => {
      const answer = await readAnswer(await fetch(server.url + path));
      expectError(answer, 404, 'not_found');
    },
  );

  const ids: [name: string, id: string][] = [
    ['unknown', 'mem_0199c2a4f1e87c3d9b5e6a7f80912b3c'],
    ['malformed', 'canary'],
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
    for (const answer of [
      await ask(server, 'GET', path),
      await ask(server, 'GET', `/v1/memories/${id}/status`),
      await ask(server, 'PATCH', path, { body: { content: 'x' } }),
      await ask(server, 'DELETE', path),
    ]) {
      expectError(answer, 404, 'not_found');
      expect(answer.text).not.toContain(id);
    }
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
    const allowed = methodsOf(path);
    if (allowed.includes('GET')) allowed.push('HEAD');
    for (const id of [known, 'unknown']) {
      const answer = await ask(server, method, path.replace(':id', id));
      expectError(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')?.split(', ')).toEqual(allowed.toSorted());
    }
  });

  const pages = ['/', '/console', '/docs', '/health/live', '/metrics', '/openapi.json'];
  test.each(pages)('POST and OPTIONS %s return 405', async (path) => {
    for (const method of ['POST', 'OPTIONS']) {
      const answer = await ask(server, method, path);
      expectError(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe('GET, HEAD');
    }
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
