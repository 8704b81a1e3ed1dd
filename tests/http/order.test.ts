import { expect, test } from 'bun:test';
import { ask, askRaw, expectError, save } from '../support/http.ts';
import { withServer } from '../support/server.ts';

/*
 * The order of checks: 401, 429, 404/405, 415, 413, 400. Each request fails the check of its row
 * and the later ones that it can fail.
 */

const requests = 50;
const maxBodyBytes = 1_024;
const limits = { MEMORY_RATE_LIMIT: `${requests}/3600`, MEMORY_MAX_BODY_BYTES: `${maxBodyBytes}` };
const server = await withServer(limits);
const known = `/v1/memories/${(await save(server, 'known')).id}`;
const missing = '/v1/memories/mem_0199c2a4f1e87c3d9b5e6a7f80912b3c';
const spentKey = await server.createKey('spent');
const spent = { authorization: `Bearer ${spentKey}` };
for (let n = 0; n < requests; n += 1) await ask(server, 'GET', '/v1/nope', { headers: spent });

type Headers = Record<string, string>;

function sendWith(method: string, path: string, body: string, headers: Headers) {
  const invalid = { 'idempotency-key': 'not one word' };
  return askRaw(server, method, `${path}?nope=1`, body, { ...invalid, ...headers });
}

const codes = {
  401: 'unauthorized',
  429: 'rate_limited',
  404: 'not_found',
  405: 'method_not_allowed',
  415: 'unsupported_media_type',
  413: 'payload_too_large',
} as const;
const unknown = { authorization: 'Bearer mk_unknown_key_unknown_key' };
const text = { 'content-type': 'text/plain' };
const large = `{${' '.repeat(maxBodyBytes)}`;

test.each<
  [status: keyof typeof codes, method: string, path: string, headers: Headers, body: string]
>([
  [401, 'POST', '/v1/memories', { ...unknown, ...text }, large],
  [401, 'POST', '/v1/nope', { ...unknown, ...text }, large],
  [429, 'POST', '/v1/memories', { ...spent, ...text }, large],
  [429, 'POST', '/v1/nope', { ...spent, ...text }, large],
  [429, 'PUT', '/v1/memories', { ...spent, ...text }, large],
  [404, 'POST', '/v1/nope', text, large],
  [404, 'PATCH', missing, text, '{"content":"x"}'],
  [404, 'PATCH', missing, {}, large],
  [404, 'PATCH', missing, {}, '{}'],
  [404, 'PATCH', missing, {}, '{"content":"x"}'],
  [404, 'DELETE', missing, {}, ''],
  [405, 'PUT', '/v1/memories', text, large],
  [415, 'POST', '/v1/memories', text, large],
  [415, 'POST', '/v1/ingest', text, large],
  [415, 'POST', '/v1/import', text, large],
  [415, 'PATCH', known, text, large],
  [413, 'POST', '/v1/import', {}, large],
  [413, 'POST', '/v1/memories', {}, large],
  [413, 'POST', '/v1/ingest', {}, large],
  [413, 'PATCH', known, {}, large],
])('%i comes before all later checks: %s %s', async (status, method, path, headers, body) => {
  expectError(await sendWith(method, path, body, headers), status, codes[status]);
});

test('the body is checked last', async () => {
  expect((await sendWith('POST', '/v1/memories', '{}', {})).status).toBe(400);
});
