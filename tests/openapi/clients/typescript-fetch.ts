import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Configuration, IngestApi, MemoriesApi, ResponseError } from './generated';

/* An agent's requests, made with the TypeScript client of openapi-generator. */

const { BASE_URL: basePath = '', KEY: accessToken = '', USER_ID: userId = '' } = process.env;
const configuration = new Configuration({ basePath, accessToken });
const memories = new MemoriesApi(configuration);
const ingest = new IngestApi(configuration);

const request = { userId, content: 'Prefers dark mode', metadata: { source: 'chat' } };
const keyed = { saveRequest: request, idempotencyKey: `${userId}-1` };
const first = await memories.saveMemory(keyed);
const again = await memories.saveMemoryRaw(keyed);
assert.equal((await again.value()).id, first.id);
assert.equal(again.raw.headers.get('idempotency-status'), 'replayed');

const occurredAt = new Date('2026-05-08T13:56:07Z');
const named = { userId, source: 'agent', externalId: 'diet', occurredAt };
const diet = await memories.saveMemory({ saveRequest: { ...named, content: 'Is vegetarian' } });
const newDiet = await memories.saveMemoryRaw({ saveRequest: { ...named, content: 'Is vegan' } });
assert.equal(newDiet.raw.status, 200);
assert.equal((await newDiet.value()).id, diet.id);

const inMay = { from: new Date('2026-05-01'), to: new Date('2026-06-01') };
const may = await memories.listMemories({ userId, source: 'agent', ...inMay });
assert.deepEqual(
  may.items.map((item) => [item.content, item.version, item.occurredAt]),
  [['Is vegan', 2, occurredAt]],
);
const chat = await memories.listMemories({ userId, metadata: { source: 'chat' } });
assert.deepEqual(
  chat.items.map(({ id }) => id),
  [first.id],
);

const timestamp = '2026-05-08T13:56:07Z';
const comments = [{ author: 'user', content: 'Where is my refund?', timestamp }];
const data = { subject: 'Refund', comments };
const ticket = await ingest.ingestTicket({ supportRequest: { userId, data } });
const batch = await ingest.ingestBatch({
  batchRequest: {
    items: [
      { type: 'event', userId, data: { name: 'order_placed', amount: 129.9 } },
      { type: 'profile', userId, data: { summary: 'Runs a small shop' } },
    ],
  },
});
assert.equal(batch.accepted, 2);

const memoryIds = [ticket, ...batch.items].map(({ memoryId }) => memoryId);
for (let attempt = 0; ; attempt += 1) {
  const { items } = await memories.getMemoryStatuses({ statusesRequest: { memoryIds } });
  assert.equal(items.length, 3);
  if (items.every(({ status }) => status === 'complete')) break;
  assert(attempt < 100, 'not processed in time');
  await sleep(100);
}

await memories.deleteMemory({ id: first.id });
const missing = await memories.getMemory({ id: first.id }).catch((error: unknown) => error);
assert(missing instanceof ResponseError);
assert.equal(missing.response.status, 404);
const rest = await memories.deleteMemories({ userId });
console.log(`deleted ${rest.deleted} of 5`);
