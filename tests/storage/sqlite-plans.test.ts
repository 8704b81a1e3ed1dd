import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nothing } from '../../server/memory/measurement.ts';
import type { ReaderTx, Value } from '../../server/storage/engine.ts';
import { createIndexCache } from '../../server/storage/index-cache.ts';
import { listTasks, listUsers, measureMemories } from '../../server/storage/operations/project.ts';
import { openForReading } from '../../server/storage/sqlite/settings.ts';
import { createTx } from '../../server/storage/sqlite/transaction.ts';
import { openInFolder } from './sqlite.ts';

/*
 * The indexes that the reads of a project use. With another index, they would read all memories or
 * tasks of a project, and a reader thread would not respond for seconds.
 */

let file: Awaited<ReturnType<typeof openInFolder>>;
let db: Database;
beforeAll(async () => {
  file = await openInFolder();
  db = openForReading(file.path);
});
afterAll(async () => {
  db.close(true);
  await file.dispose();
});

const read = { projectId: 1, now: 2_000 };
const page = { ...read, after: null, limit: 20 };

test.each<[name: string, uses: string, run: (tx: ReaderTx) => Promise<unknown>]>([
  [
    'a list of users',
    'memories_by_expiry',
    (tx) => listUsers.run(tx, { ...page, order: 'userId' }),
  ],
  [
    'the largest users',
    'memories_by_expiry',
    (tx) => listUsers.run(tx, { ...page, order: 'bytes' }),
  ],
  ['pending tasks', 'tasks_pending', (tx) => listTasks.run(tx, { ...page, status: 'processing' })],
  ['failed tasks', 'tasks_failed', (tx) => listTasks.run(tx, { ...page, status: 'failed' })],
  [
    'a measurement',
    'memories_by_user',
    (tx) => measureMemories.run(tx, { ...read, sum: nothing(), after: null }),
  ],
])('of %s begin with %s', async (_, uses, run) => {
  const plans: string[] = [];
  const tx = createTx(db);
  const explained: ReaderTx = {
    ...tx,
    indexes: createIndexCache(0),
    afterReply() {},
    all(text, ...values) {
      const plan = db.prepare<{ detail: string }, Value[]>(
        `EXPLAIN QUERY PLAN ${text.replaceAll('$', '?')}`,
      );
      plans.push(...plan.all(...values).map(({ detail }) => detail));
      return tx.all(text, ...values);
    },
  };
  await run(explained);
  const [first] = plans.filter((detail) => /^(SEARCH|SCAN)/.test(detail));
  expect(first).toContain(`INDEX ${uses} `);
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
