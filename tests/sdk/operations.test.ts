import { expect, test } from 'bun:test';
import { operations } from '../../sdk/contract/operations.ts';
import { type MemoryClient as Client, InvalidRequestError, type Memory } from '../../sdk/index.ts';
import { aMemory, json, startFaultServer, text } from '../support/fault-server.ts';
import { apiKey, clientOf, failure } from './client-of.ts';

const saved = { ...aMemory, memoryId: 'mem_1' };
const accepted = { memoryId: 'mem_1', status: 'processing', source: null, externalId: null };
const record = { userId: 'u-1', data: { name: 'signed up' } };
const ticket = { userId: 'u-1', data: { subject: 'Refund', comments: [] } };
const chat = { userId: 'u-1', data: { messages: [{ role: 'user', content: 'Hi' }] } };
const failed: [] = [];
const highlights = [{ start: 8, end: 12 }];
const found = { ...aMemory, score: 1.5, snippet: 'Prefers dark mode', highlights };
const exported = aMemory as Memory;
const user = { userId: 'u-1', memories: 1, lastCreatedAt: '2026-11-20T10:00:00.000Z' };
const imported = { imported: 1, skipped: 0, failedCount: 0, failed };

/** A call of each operation of the contract, and the response that the server sends. */
const calls: Record<keyof typeof operations, [(client: Client) => Promise<unknown>, unknown]> = {
  save: [(client) => client.save({ userId: 'u-1', content: 'x' }), saved],
  list: [(client) => client.list({ userId: 'u-1' }), { items: [], nextCursor: null }],
  get: [(client) => client.get('mem_1'), aMemory],
  update: [(client) => client.update('mem_1', { content: 'y' }), aMemory],
  delete: [(client) => client.delete('mem_1'), undefined],
  deleteAll: [(client) => client.deleteAll({ userId: 'u-1' }), { deleted: 3 }],
  search: [(client) => client.search({ userId: 'u-1', query: 'dark mode' }), { items: [found] }],
  statusMany: [(client) => client.statusMany(['mem_1']), { items: [], notFound: ['mem_1'] }],
  users: [(client) => client.users(), { items: [user], nextCursor: null }],
  key: [(client) => client.key(), { project: 'default', userId: null, readOnly: false }],
  status: [(client) => client.status('mem_1'), { memoryId: 'mem_1', status: 'complete' }],
  'ingest.support': [(client) => client.ingest.support(ticket), accepted],
  'ingest.document': [
    (client) => client.ingest.document({ userId: 'u-1', data: { text: 'x' } }),
    accepted,
  ],
  'ingest.chat': [(client) => client.ingest.chat(chat), accepted],
  'ingest.record': [(client) => client.ingest.record({ type: 'event', ...record }), accepted],
  'ingest.batch': [
    (client) => client.ingest.batch({ items: [{ type: 'event', ...record }] }),
    { accepted: 1, failedCount: 0, items: [], failed },
  ],
  export: [(client) => client.export(), { items: [aMemory], nextCursor: null }],
  import: [(client) => client.import({ items: [exported] }), imported],
  health: [(client) => client.health(), { status: 'ok', version: '1', storage: 'sqlite' }],
};

for (const [name, { method, path, success }] of Object.entries(operations)) {
  const [call, answer] = calls[name as keyof typeof operations];
  test(`${name}() sends ${method} ${path} and returns the response`, async () => {
    using server = startFaultServer(success === 204 ? text(204, '') : json(success, answer));
    expect(await call(clientOf(server))).toEqual(answer);
    const [request] = server.requests;
    expect(request?.method).toBe(method);
    expect(request?.path.split('?')[0]).toBe(path.replace(':id', 'mem_1'));
    expect(request?.headers.has('Idempotency-Key')).toBe(method !== 'GET');
    const isPublic = path === '/health';
    expect(request?.headers.get('Authorization')).toBe(isPublic ? null : `Bearer ${apiKey}`);
    const sendsBody = method === 'POST' || method === 'PATCH';
    expect(request?.headers.get('Content-Type')).toBe(sendsBody ? 'application/json' : null);
  });
}

test('a request in any writing system arrives unchanged', async () => {
  using server = startFaultServer(json(201, saved));
  const request = { userId: 'ü/1', content: 'Grüezi 👋\n"x"', metadata: { a: [1, null] } };
  await clientOf(server).save(request);
  expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(request);
});

const filters = { type: 'ticket', source: 'crm', externalId: 'a/1' } as const;
const asQuery = '&type=ticket&source=crm&externalId=a%2F1';

test('filters are sent as query parameters, metadata as metadata[key]=value', async () => {
  using server = startFaultServer(json(200, { items: [], nextCursor: null }));
  const client = clientOf(server);
  const metadata = { plan: 'pro & more', seats: 5, open: false, 'a]b': '', ü: 1.5 };
  await client.list({ userId: 'u-1', ...filters, metadata });
  await client.search({ userId: 'u-1', query: 'a+b "c d"?', limit: 5, ...filters, metadata });
  await client.list({ userId: 'u-1', metadata: {} });
  const paths = server.requests.map(({ path }) =>
    path.replaceAll('%5B', '[').replaceAll('%5D', ']'),
  );
  const asMetadata =
    '&metadata[plan]=pro%20%26%20more&metadata[seats]=5&metadata[open]=false&metadata[a]b]=' +
    '&metadata[%C3%BC]=1.5';
  expect(paths).toEqual([
    `/v1/memories?userId=u-1${asQuery}${asMetadata}`,
    `/v1/memories/search?userId=u-1&query=a%2Bb%20%22c%20d%22%3F&limit=5${asQuery}${asMetadata}`,
    '/v1/memories?userId=u-1',
  ]);
});

test('deleteAll() sends the userId unchanged, even if it is empty', async () => {
  using server = startFaultServer(json(200, { deleted: 0 }));
  await clientOf(server).deleteAll({ userId: 'u&1' });
  await clientOf(server).deleteAll({ userId: '' });
  await clientOf(server).deleteAll({} as { userId: string });
  const paths = server.requests.map(({ path }) => path);
  expect(paths).toEqual(['/v1/memories?userId=u%261', '/v1/memories?userId=', '/v1/memories']);
});

test('an id is encoded as one segment of the path', async () => {
  using server = startFaultServer(json(200, aMemory));
  await clientOf(server).get('../a/b?c#ü');
  const paths = server.requests.map(({ path }) => path);
  expect(paths).toEqual(['/v1/memories/..%2Fa%2Fb%3Fc%23%C3%BC']);
});

test('a lone surrogate in an id is rejected, not sent as a replacement character', async () => {
  using server = startFaultServer(json(200, { items: [], nextCursor: null }));
  const client = clientOf(server);
  const half = 'u\ud83d';
  for (const call of [
    client.get(half),
    client.list({ userId: half }),
    client.list({ userId: 'u', metadata: { [half]: 1 } }),
    client.search({ userId: 'u', query: 'q', externalId: half }),
    client.deleteAll({ userId: half }),
  ]) {
    expect(await failure(call)).toBeInstanceOf(InvalidRequestError);
  }
  expect(server.requests).toHaveLength(0);
});

test('an id that would address another route is rejected before it is sent', async () => {
  using server = startFaultServer(text(204, ''));
  for (const id of ['', '.', '..']) {
    expect(await failure(clientOf(server).delete(id))).toBeInstanceOf(InvalidRequestError);
  }
  expect(server.requests).toHaveLength(0);
});
