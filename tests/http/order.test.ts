import { beforeAll, expect, test } from 'bun:test';
import type { ErrorCode } from '../../sdk/contract/errors.ts';
import { ask, askRaw, expectError, save } from '../support/http.ts';
import { withServer } from '../support/server.ts';

/*
 * The order of checks: 401, 429, 404/405, 415, 413, 400. Each request fails the check in its row
 * and every later check.
 */

const requests = 50;
const maxBodyBytes = 1_024;
const missing = '/v1/memories/mem_0199c2a4f1e87c3d9b5e6a7f80912b3c';

let spentKey: string;
let known: string;
const server = await withServer({
  MEMORY_RATE_LIMIT: `${requests}/3600`,
  MEMORY_MAX_BODY_BYTES: String(maxBodyBytes),
});
beforeAll(async () => {
  known = `/v1/memories/${(await save(server, 'known')).id}`;
  spentKey = await server.createKey('spent');
  const headers = { authorization: `Bearer ${spentKey}` };
  for (let n = 0; n < requests; n += 1) await ask(server, 'GET', '/v1/nope', { headers });
});

type Faults = {
  key?: 'unknown' | 'spent';
  method?: string;
  path?: string;
  type?: string;
  body?: string;
};

function sendWith({ key, method = 'POST', path = '/v1/memories', type, body }: Faults) {
  const keys = { unknown: 'mk_unknown_key_unknown_key', spent: spentKey };
  return askRaw(server, method, path, body ?? '{}', {
    'idempotency-key': 'not one word',
    ...(key && { authorization: `Bearer ${keys[key]}` }),
    ...(type && { 'content-type': type }),
  });
}

const type = 'text/plain';
const body = `{${' '.repeat(maxBodyBytes)}`;
const query = '?nope=1';

test.each<[status: number, code: ErrorCode, of: string, faults: Faults]>([
  [
    401,
    'unauthorized',
    'a known route',
    { key: 'unknown', path: `/v1/memories${query}`, type, body },
  ],
  [
    401,
    'unauthorized',
    'an unknown route',
    { key: 'unknown', path: `/v1/nope${query}`, type, body },
  ],
  [
    429,
    'rate_limited',
    'a known route',
    { key: 'spent', path: `/v1/memories${query}`, type, body },
  ],
  [429, 'rate_limited', 'an unknown route', { key: 'spent', path: `/v1/nope${query}`, type, body }],
  [429, 'rate_limited', 'an unsupported method', { key: 'spent', method: 'PUT', type, body }],
  [404, 'not_found', 'an unknown route', { path: `/v1/nope${query}`, type, body }],
  [405, 'method_not_allowed', 'an unsupported method', { method: 'PUT', type, body }],
  [415, 'unsupported_media_type', 'a save', { path: `/v1/memories${query}`, type, body }],
  [415, 'unsupported_media_type', 'a record', { path: `/v1/ingest${query}`, type, body }],
  [415, 'unsupported_media_type', 'an import', { path: `/v1/import${query}`, type, body }],
  [413, 'payload_too_large', 'an import', { path: `/v1/import${query}`, body }],
  [413, 'payload_too_large', 'a save', { path: `/v1/memories${query}`, body }],
  [413, 'payload_too_large', 'a record', { path: `/v1/ingest${query}`, body }],
])('%i %s takes precedence over all later checks: %s', async (status, code, _, faults) => {
  expectError(await sendWith(faults), status, code);
});

test.each<[status: number, code: ErrorCode, faults: Faults]>([
  [415, 'unsupported_media_type', { method: 'PATCH', type, body }],
  [413, 'payload_too_large', { method: 'PATCH', body }],
])('%i %s takes precedence over all later checks: an update', async (status, code, faults) => {
  expectError(await sendWith({ ...faults, path: known + query }), status, code);
});

test.each<[fault: string, method: string, query: string, type: string, body: string]>([
  ['another media type', 'PATCH', '', type, '{"content":"x"}'],
  ['a body over the limit', 'PATCH', '', 'application/json', body],
  ['an invalid body', 'PATCH', '', 'application/json', '{}'],
  ['an unknown query parameter', 'PATCH', query, 'application/json', '{"content":"x"}'],
  ['an unknown query parameter', 'DELETE', query, 'application/json', ''],
])('returns 404 for an unknown id before %s (%s)', async (_, method, query, type, body) => {
  const answer = await askRaw(server, method, missing + query, body, { 'content-type': type });
  expectError(answer, 404, 'not_found');
});

test.each(['', '/status'])(
  'returns 404 for an unknown id before an unknown query parameter (GET %s)',
  async (of) => {
    expectError(await ask(server, 'GET', missing + of + query), 404, 'not_found');
  },
);

test('checks the body last', async () => {
  expect((await sendWith({})).status).toBe(400);
});
