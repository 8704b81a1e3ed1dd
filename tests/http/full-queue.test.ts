import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { limits } from '../../sdk/contract/limits.ts';
import { smallQueueRecords } from '../storage/fixtures.ts';
import { ask, expectError, getPage, newUser } from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

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

test('a batch that the queue has no room for gets a 429 and stores nothing', async () => {
  const userId = newUser();
  const event = { type: 'event', userId, data: { name: 'event' } };
  const body = { items: Array(smallQueueRecords + 1).fill(event) };
  const answer = await ask(server, 'POST', '/v1/ingest/batch', { body });
  expectError(answer, 429, 'rate_limited');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await getPage(server, userId)).items).toEqual([]);
});
