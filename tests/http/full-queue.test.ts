import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import { limits } from '../../sdk/contract/limits.ts';
import { smallQueueRecords } from '../storage/fixtures.ts';
import { ask, bodyOf, expectError, getPage, newUser } from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { completeMemories } from '../support/writes.ts';

let server: TestServer;
const { pendingRecords } = limits;
beforeAll(async () => {
  // PostgreSQL checks the limit in this thread, SQLite in the writer thread.
  Object.assign(limits, { pendingRecords: smallQueueRecords });
  server = await startTestServer({}, [join(import.meta.dir, '../storage/small-queue.ts')]);
});
afterAll(async () => {
  Object.assign(limits, { pendingRecords });
  await server.stop();
});

function sendBatch(userId: string, count: number) {
  const items = Array.from({ length: count }, (_, n) => ({
    ...{ type: 'event', userId, data: { name: `event ${n}` } },
  }));
  return ask(server, 'POST', '/v1/ingest/batch', { body: { items } });
}

test('a batch that the queue has no room for gets a 429 and stores nothing', async () => {
  const userId = newUser();
  const answer = await sendBatch(userId, smallQueueRecords + 1);
  expectError(answer, 429, 'rate_limited');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await getPage(server, userId)).items).toEqual([]);
});

test('every accepted record is processed', async () => {
  const userId = newUser();
  const { accepted } = bodyOf<BatchAccepted>(await sendBatch(userId, smallQueueRecords), 202);
  expect(accepted).toBe(smallQueueRecords);
  expect(await completeMemories(server, userId)).toHaveLength(smallQueueRecords);
});

test('records that change nothing need no room in the queue', async () => {
  const userId = newUser();
  const send = (count: number) => {
    const items = Array.from({ length: count }, (_, n) => ({
      ...{ type: 'event', userId, externalId: `${n}`, data: { name: `event ${n}` } },
    }));
    return ask(server, 'POST', '/v1/ingest/batch', { body: { items } });
  };
  const first = smallQueueRecords / 2 + 1;
  const accepted = await until(
    async () => {
      const answer = await send(first);
      return answer.status === 429 ? null : bodyOf<BatchAccepted>(answer, 202).accepted;
    },
    { what: 'space in the queue' },
  );
  expect(accepted).toBe(first);
  await completeMemories(server, userId);
  const all = bodyOf<BatchAccepted>(await send(smallQueueRecords - 1), 202);
  expect(all.accepted).toBe(smallQueueRecords - 1);
  expect(await completeMemories(server, userId)).toHaveLength(smallQueueRecords - 1);
});
