import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/* An agent's requests, for every generated client in TypeScript. */

export const { BASE_URL: baseUrl = '', KEY: apiKey = '', USER_ID: userId = '' } = process.env;

type Metadata = Record<string, string>;
type Names = { source?: string; externalId?: string };
type Save = Names & { userId: string; content: string; metadata?: Metadata; occurredAt?: string };
type Query = { userId: string; source?: string; from?: string; to?: string; metadata?: Metadata };
type Reply = { id: string; response: Response };

const timestamp = '2026-05-08T13:56:07Z';
const comments = [{ author: 'user', content: 'Where is my refund?', timestamp }];
const ticket = { userId, data: { subject: 'Refund', comments } };
const event = { type: 'event' as const, userId, data: { name: 'order_placed', amount: 129.9 } };
const profile = { type: 'profile' as const, userId, data: { summary: 'Runs a small shop' } };
const batch = { items: [event, profile] };

export type Agent = {
  save(body: Save, idempotencyKey?: string): Promise<Reply>;
  list(query: Query): Promise<{ id: string; content: string; version: number }[]>;
  ingestTicket(body: typeof ticket): Promise<{ memoryId: string }>;
  ingestBatch(body: typeof batch): Promise<{ accepted: number; items: { memoryId: string }[] }>;
  statuses(body: { memoryIds: string[] }): Promise<{ items: { status: string }[] }>;
  remove(path: { id: string }): Promise<Response>;
  /** Returns the status of a memory that does not exist. */
  statusOf(path: { id: string }): Promise<number | undefined>;
  removeAll(query: { userId: string }): Promise<{ deleted: number }>;
};

export async function run(agent: Agent): Promise<void> {
  const body = { userId, content: 'Prefers dark mode', metadata: { source: 'chat' } };
  const { id } = await agent.save(body, `${userId}-1`);
  const again = await agent.save(body, `${userId}-1`);
  assert.equal(again.id, id);
  assert.equal(again.response.headers.get('idempotency-status'), 'replayed');

  const named = { userId, source: 'agent', externalId: 'diet', occurredAt: timestamp };
  const diet = await agent.save({ ...named, content: 'Is vegetarian' });
  const newDiet = await agent.save({ ...named, content: 'Is vegan' });
  assert.deepEqual([newDiet.response.status, newDiet.id], [200, diet.id]);

  const inMay = { from: '2026-05-01T00:00:00Z', to: '2026-06-01T00:00:00Z' };
  const may = await agent.list({ userId, source: 'agent', ...inMay });
  const versions = may.map(({ content, version }) => [content, version]);
  assert.deepEqual(versions, [['Is vegan', 2]]);
  const chat = await agent.list({ userId, metadata: { source: 'chat' } });
  const ids = chat.map((one) => one.id);
  assert.deepEqual(ids, [id]);

  const { memoryId } = await agent.ingestTicket(ticket);
  const { accepted, items } = await agent.ingestBatch(batch);
  assert.equal(accepted, 2);
  const memoryIds = [memoryId, ...items.map((one) => one.memoryId)];
  for (let attempt = 0; ; attempt += 1) {
    const found = (await agent.statuses({ memoryIds })).items;
    assert.equal(found.length, 3);
    if (found.every(({ status }) => status === 'complete')) break;
    assert(attempt < 100, 'not processed in time');
    await sleep(100);
  }

  assert.equal((await agent.remove({ id })).status, 204);
  assert.equal(await agent.statusOf({ id }), 404);
  const { deleted } = await agent.removeAll({ userId });
  console.log(`deleted ${deleted} of 5`);
}
