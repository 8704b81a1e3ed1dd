import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { client } from './generated/client.gen';
import * as memory from './generated/sdk.gen';

/* An agent's requests, made with the client of @hey-api/openapi-ts. */

const { BASE_URL: baseUrl = '', KEY, USER_ID: userId = '' } = process.env;
client.setConfig({ baseUrl, auth: () => KEY, throwOnError: true });
const strict = { throwOnError: true } as const;

const body = { userId, content: 'Prefers dark mode', metadata: { source: 'chat' } };
const headers = { 'Idempotency-Key': `${userId}-1` };
const first = await memory.saveMemory({ ...strict, body, headers });
const again = await memory.saveMemory({ ...strict, body, headers });
assert.equal(again.data.id, first.data.id);
assert.equal(again.response.headers.get('idempotency-status'), 'replayed');

const named = { userId, source: 'agent', externalId: 'diet', occurredAt: '2026-05-08T13:56:07Z' };
const diet = await memory.saveMemory({ ...strict, body: { ...named, content: 'Is vegetarian' } });
const newDiet = await memory.saveMemory({ ...strict, body: { ...named, content: 'Is vegan' } });
assert.equal(newDiet.response.status, 200);
assert.equal(newDiet.data.id, diet.data.id);

const inMay = { from: '2026-05-01T00:00:00Z', to: '2026-06-01T00:00:00Z' };
const may = await memory.listMemories({ ...strict, query: { userId, source: 'agent', ...inMay } });
assert.deepEqual(
  may.data.items.map(({ content, version }) => [content, version]),
  [['Is vegan', 2]],
);
const chat = await memory.listMemories({
  ...strict,
  query: { userId, metadata: { source: 'chat' } },
});
assert.deepEqual(
  chat.data.items.map(({ id }) => id),
  [first.data.id],
);

const timestamp = '2026-05-08T13:56:07Z';
const comments = [{ author: 'user', content: 'Where is my refund?', timestamp }];
const data = { subject: 'Refund', comments };
const ticket = await memory.ingestTicket({ ...strict, body: { userId, data } });
const batch = await memory.ingestBatch({
  ...strict,
  body: {
    items: [
      { type: 'event', userId, data: { name: 'order_placed', amount: 129.9 } },
      { type: 'profile', userId, data: { summary: 'Runs a small shop' } },
    ],
  },
});
assert.equal(batch.data.accepted, 2);

const memoryIds = [ticket.data, ...batch.data.items].map(({ memoryId }) => memoryId);
for (let attempt = 0; ; attempt += 1) {
  const { items } = (await memory.getMemoryStatuses({ ...strict, body: { memoryIds } })).data;
  assert.equal(items.length, 3);
  if (items.every(({ status }) => status === 'complete')) break;
  assert(attempt < 100, 'not processed in time');
  await sleep(100);
}

const path = { id: first.data.id };
const deleted = await memory.deleteMemory({ ...strict, path });
assert.equal(deleted.response.status, 204);
const missing = await memory.getMemory({ path, throwOnError: false });
assert.equal(missing.error?.error, 'not_found');
const rest = await memory.deleteMemories({ ...strict, query: { userId } });
console.log(`deleted ${rest.data.deleted} of 5`);
