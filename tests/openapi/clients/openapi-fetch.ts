import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { paths } from './schema';

/* An agent's requests, made with the client of openapi-typescript and openapi-fetch. */

const { BASE_URL: baseUrl = '', KEY, USER_ID: userId = '' } = process.env;
const headers = { authorization: `Bearer ${KEY}` };
const client = createClient<paths>({ baseUrl, headers });

function dataOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  assert(data !== undefined, JSON.stringify(error));
  return data;
}

const body = { userId, content: 'Prefers dark mode', metadata: { source: 'chat' } };
const key = { header: { 'Idempotency-Key': `${userId}-1` } };
const first = await client.POST('/v1/memories', { params: key, body });
const again = await client.POST('/v1/memories', { params: key, body });
assert.equal(dataOf(again).id, dataOf(first).id);
assert.equal(again.response.headers.get('idempotency-status'), 'replayed');

const named = { userId, source: 'agent', externalId: 'diet', occurredAt: '2026-05-08T13:56:07Z' };
const diet = await client.POST('/v1/memories', { body: { ...named, content: 'Is vegetarian' } });
const newDiet = await client.POST('/v1/memories', { body: { ...named, content: 'Is vegan' } });
assert.equal(newDiet.response.status, 200);
assert.equal(dataOf(newDiet).id, dataOf(diet).id);

const inMay = { from: '2026-05-01T00:00:00Z', to: '2026-06-01T00:00:00Z' };
const may = await client.GET('/v1/memories', {
  params: { query: { userId, source: 'agent', ...inMay } },
});
assert.deepEqual(
  dataOf(may).items.map(({ content, version }) => [content, version]),
  [['Is vegan', 2]],
);
const metadata = { source: 'chat' };
const chat = await client.GET('/v1/memories', { params: { query: { userId, metadata } } });
assert.deepEqual(
  dataOf(chat).items.map(({ id }) => id),
  [dataOf(first).id],
);

const timestamp = '2026-05-08T13:56:07Z';
const comments = [{ author: 'user', content: 'Where is my refund?', timestamp }];
const data = { subject: 'Refund', comments };
const ticket = await client.POST('/v1/ingest/support', { body: { userId, data } });
const batch = await client.POST('/v1/ingest/batch', {
  body: {
    items: [
      { type: 'event', userId, data: { name: 'order_placed', amount: 129.9 } },
      { type: 'profile', userId, data: { summary: 'Runs a small shop' } },
    ],
  },
});
assert.equal(dataOf(batch).accepted, 2);

const memoryIds = [dataOf(ticket), ...dataOf(batch).items].map(({ memoryId }) => memoryId);
for (let attempt = 0; ; attempt += 1) {
  const statuses = await client.POST('/v1/memories/status', { body: { memoryIds } });
  const { items } = dataOf(statuses);
  assert.equal(items.length, 3);
  if (items.every(({ status }) => status === 'complete')) break;
  assert(attempt < 100, 'not processed in time');
  await sleep(100);
}

const path = { id: dataOf(first).id };
const deleted = await client.DELETE('/v1/memories/{id}', { params: { path } });
assert.equal(deleted.response.status, 204);
const missing = await client.GET('/v1/memories/{id}', { params: { path } });
assert.equal(missing.error?.error, 'not_found');
const rest = await client.DELETE('/v1/memories', { params: { query: { userId } } });
console.log(`deleted ${dataOf(rest).deleted} of 5`);
