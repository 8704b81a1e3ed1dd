import { describe, expect, test } from 'bun:test';
import type { SavedMemory } from '../../sdk/contract/memory.ts';
import { operations } from '../../sdk/contract/operations.ts';
import { ask, bodyOf, getMemory, ingest, newUser, save, whenComplete } from '../support/http.ts';
import { withServer } from '../support/server.ts';

/* Two projects share a server. Neither project's ids or text may leak to the other. */

const unknown = 'mem_0199c2a4f1e87c3d9b5e6a7f80912b3c';
const canary = 'canary';
const server = await withServer({ MEMORY_RATE_LIMIT: '100000/3600' });
const theirs = { ...server, key: await server.createKey('theirs') };

/** Returns a response without the request id, the date and the rate limit, which always differ. */
async function responseTo(...request: [method: string, path: string, options?: object]) {
  const { status, headers, text } = await ask(server, ...request);
  const kept = [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit)$/i.test(name));
  return { status, headers: kept, text: text.replace(/req_\w+/, 'req_') };
}

const ofWrites: [how: string, options: object][] = [
  ['with a body', { body: { content: 'mine now' } }],
  ['with an invalid body', { body: { content: '' } }],
  ['under a key', { body: { content: 'x' }, headers: { 'idempotency-key': 'mine' } }],
];
const requests = Object.values(operations)
  .filter(({ path }) => path.includes(':id'))
  .flatMap(({ method, path }) => {
    const ways = method === 'GET' ? [['', {}] as const] : ofWrites;
    return ways.map(([how, options]) => [method, path, how, options] as const);
  });

describe.each<[name: string, make: () => Promise<string>]>([
  ['a saved memory', async () => (await save(theirs, newUser(), canary)).id],
  [
    'an ingested memory',
    async () => {
      const body = { userId: newUser(), data: { text: canary } };
      return (await ingest(theirs, '/v1/ingest/document', body)).memoryId;
    },
  ],
])('%s of another project', (_, make) => {
  test.each(requests)('%s %s %s responds as for an unknown id', async (...request) => {
    const [method, path, , options] = request;
    const id = await make();
    const before = await whenComplete(theirs, id);
    const answer = await responseTo(method, path.replace(':id', id), options);
    expect(answer).toEqual(await responseTo(method, path.replace(':id', unknown), options));
    expect(answer.status).toBeWithin(400, 500);
    expect(answer.text).not.toContain(canary);
    expect(await getMemory(theirs, id)).toEqual(before);
  });
});

test.each<[request: string, method: string, path: (userId: string) => string]>([
  ['a list', 'GET', (userId) => `/v1/memories?userId=${userId}`],
  ['a list by source', 'GET', (userId) => `/v1/memories?userId=${userId}&source=${canary}`],
  ['a list by id', 'GET', (userId) => `/v1/memories?userId=${userId}&externalId=${canary}`],
  ['a search', 'GET', (userId) => `/v1/memories/search?userId=${userId}&query=${canary}`],
  ['an export', 'GET', (userId) => `/v1/export?userId=${userId}`],
  ['an erasure', 'DELETE', (userId) => `/v1/memories?userId=${userId}`],
])('%s of a user of another project responds as for an unknown user', async (_, method, path) => {
  const userId = newUser();
  const body = { userId, content: canary, source: canary, externalId: canary };
  const { id } = bodyOf<SavedMemory>(await ask(theirs, 'POST', '/v1/memories', { body }), 201);
  const before = await getMemory(theirs, id);
  const answer = await responseTo(method, path(userId));
  expect(answer).toEqual(await responseTo(method, path(newUser())));
  expect(answer.text).not.toContain(canary);
  expect(await getMemory(theirs, id)).toEqual(before);
});

test('an export and a list of users contain nothing of another project', async () => {
  const { userId } = await save(theirs, newUser(), canary);
  for (const path of ['/v1/export', '/v1/users?limit=100']) {
    const { text } = await ask(server, 'GET', path);
    expect(text).not.toContain(canary);
    expect(text).not.toContain(`"${userId}"`);
  }
});
