import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newWholeDatabase, openTransaction, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { imported, newProject } from './fixtures.ts';

/*
 * Imports of the same ids for several users, in a database that does not keep ids unique: it has
 * the setting that only Citus has, and the primary key that the table has on Citus.
 */

let database: Awaited<ReturnType<typeof newWholeDatabase>>;
let storage: Storage;

beforeAll(async () => {
  database = await newWholeDatabase();
  await query(database.url, `ALTER DATABASE ${database.name} SET citus.shard_count = 32`);
  storage = await openStorage(database.url);
  await query(database.url, 'ALTER TABLE memories DROP CONSTRAINT memories_pkey');
  await query(database.url, 'ALTER TABLE memories ADD PRIMARY KEY (project_id, id, user_id)');
});
afterAll(async () => {
  await storage.close();
  await database.drop();
});

test.each([10, 200])(
  'imports of the same %i ids that arrive together store each once',
  async (count) => {
    const project = await newProject({ storage });
    const memories = Array.from({ length: count }, () => imported());
    const importFor = (userId: string) =>
      project.import(memories.map((one) => ({ ...one, userId })));
    const reports = await Promise.all(['u', 'v', 'w'].map(importFor));
    const counts = reports.map(({ imported, skipped }) => [imported, skipped]);
    expect(counts.toSorted()).toEqual([
      [0, count],
      [0, count],
      [count, 0],
    ]);
  },
);

test('an import waits for the imports of other servers into its project, and of no other', async () => {
  const [project, other] = [await newProject({ storage }), await newProject({ storage })];
  const unlock = await openTransaction(database.url, 'SELECT pg_advisory_xact_lock($1)', [
    project.id,
  ]);
  let isImported = false;
  const importing = project.import([imported()]).finally(() => {
    isImported = true;
  });
  expect(await other.import([imported()])).toMatchObject({ imported: 1 });
  const waiting = `SELECT 1 AS one FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
  const isWaiting = async () => (await query(database.url, waiting)).length > 0;
  await until(isWaiting, { what: 'an import that waits for the lock' });
  expect(isImported).toBe(false);
  await unlock();
  expect(await importing).toMatchObject({ imported: 1 });
});
