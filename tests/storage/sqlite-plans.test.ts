import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { nothing } from '../../server/memory/measurement.ts';
import type { ReaderTx, Tx, Value } from '../../server/storage/engine.ts';
import { createIndexCache } from '../../server/storage/index-cache.ts';
import { eraseUser } from '../../server/storage/operations/erasure.ts';
import { exportMemories } from '../../server/storage/operations/lists.ts';
import { listTasks, listUsers, measureMemories } from '../../server/storage/operations/project.ts';
import { nextUnstored } from '../../server/storage/operations/snapshots.ts';
import { exportPosition } from '../../server/storage/position.ts';
import { QueueLimit } from '../../server/storage/queue-limit.ts';
import { openForReading, openForWriting } from '../../server/storage/sqlite/settings.ts';
import { createTx } from '../../server/storage/sqlite/transaction.ts';
import { memory } from './fixtures.ts';
import { openInFolder, saveMany } from './sqlite.ts';

/*
 * The indexes that the reads of a project use. With another index, they would read all memories or
 * tasks of a project, and a reader thread would not respond for seconds.
 */

const file = await openInFolder();
const db = openForReading(file.path);
afterAll(async () => {
  db.close(true);
  await file.dispose();
});

/** Returns what runs statements, and the plans of those that have run. */
function planned(db: Database): { tx: Tx; plans: string[] } {
  const plans: string[] = [];
  const tx = createTx(db);
  function explain(text: string, values: readonly Value[] = []): void {
    const plan = db.prepare<{ detail: string }, Value[]>(
      `EXPLAIN QUERY PLAN ${text.replaceAll('$', '?')}`,
    );
    const details = plan.all(...values).map(({ detail }) => detail);
    plans.push(...details.filter((detail) => /^(SEARCH|SCAN)/.test(detail)));
  }
  return {
    plans,
    tx: {
      ...tx,
      all(text, values) {
        explain(text, values);
        return tx.all(text, values);
      },
      one(text, values) {
        explain(text, values);
        return tx.one(text, values);
      },
      run(text, values) {
        explain(text, values);
        return tx.run(text, values);
      },
    },
  };
}

const read = { projectId: 1, now: 2_000 };
const page = { ...read, after: null, limit: 20 };
const after = exportPosition({ userId: 'ada', createdAt: 1_000, id: 'mem_1' });
const onlyUserId = 'ada';
const byExpiry = 'memories_by_expiry (';
const byUser = 'memories_by_user (project_id=? AND';
const byUserOf = `${byUser} user_id=? AND (created_at,id)>(?,?))`;
const byAllUsers = `${byUser} (user_id,created_at,id)>(?,?,?))`;
const measured = { ...read, sum: nothing(), after };

test.each<[name: string, uses: string, run: (tx: ReaderTx) => Promise<unknown>]>([
  ['a list of users', byExpiry, (tx) => listUsers.run(tx, { ...page, order: 'userId' })],
  ['the largest users', byExpiry, (tx) => listUsers.run(tx, { ...page, order: 'bytes' })],
  ['pending tasks', 'tasks_pending', (tx) => listTasks.run(tx, { ...page, status: 'processing' })],
  ['failed tasks', 'tasks_failed', (tx) => listTasks.run(tx, { ...page, status: 'failed' })],
  ['a measurement', byAllUsers, (tx) => measureMemories.run(tx, measured)],
  ['one of a user', byUserOf, (tx) => measureMemories.run(tx, { ...measured, onlyUserId })],
  ['an export', byAllUsers, (tx) => exportMemories.run(tx, { ...page, after })],
  ['an export of a user', byUserOf, (tx) => exportMemories.run(tx, { ...page, after, onlyUserId })],
  [
    'a search for users with much to store',
    'PRIMARY KEY ((project_id,user_id)>(?,?))',
    (tx) => nextUnstored.run(tx, { after: { projectId: 1, userId: 'ada' } }),
  ],
])('of %s begin with %s', async (_, uses, run) => {
  const { tx, plans } = planned(db);
  await run({ ...tx, indexes: createIndexCache(0), afterReply() {} });
  expect(plans[0]).toContain(uses);
});

test('a user is erased without reading all of the memories for each part', async () => {
  await using opened = await openInFolder();
  await saveMany(opened.storage, 3);
  const writing = openForWriting(opened.path);
  const { tx, plans } = planned(writing);
  await eraseUser.run(
    { ...tx, noteRemoved: async () => {}, queueLimit: new QueueLimit() },
    { projectId: 1, userId: memory().userId, at: 1_000, idempotency: null },
  );
  writing.close(true);
  expect(plans).toContain(`SEARCH memories USING INDEX ${byUserOf}`);
  expect(plans).toContain('SEARCH memories USING INDEX memories_by_id (project_id=? AND id=?)');
});

test('the cleanup does not read the idempotency keys that it keeps', async () => {
  await using opened = await openInFolder();
  async function fastestMs(run: () => unknown): Promise<number> {
    const times: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const begun = performance.now();
      await run();
      times.push(performance.now() - begun);
    }
    return Math.min(...times);
  }
  const cleanup = () => opened.storage.maintain({ now: 2_000, elapsedMs: 1 });
  const withoutKeys = await fastestMs(cleanup);
  using other = new Database(opened.path);
  other.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 200000)
     INSERT INTO idempotency_keys
       (project_id, scope, key, fingerprint, status, body, stored_uptime, created_at)
     SELECT 1, '', n, 'f', 201, '{}', 0, 1000 FROM numbers`,
  );
  const readAll = other.prepare('SELECT max(stored_uptime) FROM idempotency_keys');
  const scan = await fastestMs(() => readAll.get());
  expect((await fastestMs(cleanup)) - withoutKeys).toBeLessThan(scan / 2);
});
