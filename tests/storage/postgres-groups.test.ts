import { afterAll, expect, test } from 'bun:test';
import { newDatabase, newWholeDatabase, query } from '../support/postgres.ts';
import { claim, complete, imported, memory, newProject, record } from './fixtures.ts';
import { expectConsistent } from './invariants.ts';
import { lockUser, openRecorded } from './postgres.ts';

/* Writes that arrive together share a transaction, and statements that change many rows. */

const recorded = await openRecorded(await newDatabase());
const { database, project, recorder, storage } = recorded;
afterAll(() => recorded[Symbol.asyncDispose]());

/** Returns the number of statements that change rows of users, memories and tasks. */
async function countChanges(write: () => Promise<unknown>): Promise<number> {
  recorder.drain();
  await write();
  const changes = /^\s*(INSERT INTO|UPDATE) (users|memories|tasks)\b/;
  return recorder.drain().filter(({ text }) => changes.test(text)).length;
}

test('a batch is accepted, claimed and completed with few statements', async () => {
  const records = Array.from({ length: 90 }, (_, index) => record({ userId: `u-${index % 70}` }));
  // For each of users, memories, tasks and counts: 64 rows, 16, and at most four times one or four.
  expect(await countChanges(() => project.accept(records))).toBeLessThanOrEqual(4 * 6);
  let tasks: Awaited<ReturnType<typeof claim>> = [];
  const claimed = await countChanges(async () => {
    tasks = await claim(storage);
  });
  expect(tasks).toHaveLength(90);
  expect(claimed).toBeLessThanOrEqual(6);
  const results = tasks.map((task) => ({ ...task, now: 3_000, chunks: 2 }));
  expect(await countChanges(() => storage.completeTasks(results))).toBeLessThanOrEqual(2 * 6);
  const statuses = await project.statuses(tasks.map(({ memoryId }) => memoryId));
  expect(new Set(statuses.map(({ status, chunksTotal }) => `${status} ${chunksTotal}`))).toEqual(
    new Set(['complete 2']),
  );
});

test('if the server has Citus, statements are planned for their values, and no update is joined', async () => {
  const whole = await newWholeDatabase();
  await query(whole.url, `ALTER DATABASE ${whole.name} SET citus.shard_count = 32`);
  await using own = await openRecorded(whole);
  const texts = () => own.recorder.drain().map(({ text }) => text);
  expect(texts()).toContain('SET plan_cache_mode = auto');
  await own.project.accept(Array.from({ length: 20 }, (_, n) => record({ userId: `u-${n}` })));
  const tasks = await claim(own.storage);
  await own.storage.completeTasks(tasks.map((task) => ({ ...task, now: 3_000, chunks: 2 })));
  const sent = texts();
  expect(sent.filter((text) => /^\s*INSERT INTO memories/.test(text)).length).toBeLessThan(6);
  const updates = sent.filter((text) => /^\s*UPDATE (users|tasks)/.test(text));
  expect(updates).toHaveLength(3 * 20);
  expect(updates.filter((text) => text.includes('VALUES'))).toEqual([]);
});

test('writes of the same users that arrive together are each counted, in one transaction', async () => {
  const own = await newProject({ storage });
  const userIds = Array.from({ length: 60 }, (_, index) => `same-${index % 7}`);
  recorder.drain();
  await Promise.all([
    ...userIds.map((userId) => own.save(memory({ userId }))),
    ...userIds.map((userId) => own.ingest(record({ userId }))),
  ]);
  // A statement that changes a row twice fails, and then each write runs alone.
  expect(recorder.drain().filter(({ text }) => text === 'ROLLBACK')).toEqual([]);
  const { items } = await own.users();
  expect(items.map(({ userId, memories }) => [userId, memories])).toEqual(
    ['0', '1', '2', '3', '4', '5', '6'].map((end) => [`same-${end}`, Number(end) < 4 ? 18 : 16]),
  );
  const tasks = await claim(storage);
  await Promise.all(tasks.map((task) => complete(storage, task)));
  const changes = await query(
    database.url,
    'SELECT DISTINCT user_id, last_change FROM tasks WHERE project_id = $1',
    [own.id],
  );
  expect(changes).toHaveLength(60);
  await expectConsistent(database);
});

/** Starts ten writes at once and returns the number of their transactions. */
async function countTransactions(write: () => Promise<unknown>): Promise<number> {
  recorder.drain();
  await Promise.all(Array.from({ length: 10 }, write));
  return recorder.drain().filter(({ text }) => text === 'COMMIT').length;
}

test('saves that arrive together are stored in one transaction', async () => {
  expect(await countTransactions(() => project.save(memory()))).toBe(1);
});

test('records that arrive together are stored in one transaction', async () => {
  // The first ingest also counts the pending records.
  await project.accept([record()]);
  expect(await countTransactions(() => project.accept([record()]))).toBe(1);
});

test("a user's saves share a transaction again after a lock on the user is released", async () => {
  const userId = 'locked';
  const save = () => project.save(memory({ userId }));
  await save();
  const unlock = await lockUser(database.url, userId);
  const waiting = save();
  // Each attempt waits 200 ms for the lock: first in a group, then alone.
  await Bun.sleep(600);
  await unlock();
  await waiting;
  expect(await countTransactions(save)).toBe(1);
});

test('a save that shares a transaction with the removal of the last memory keeps its user', async () => {
  const expired = { id: 'mem_expired', expiresAt: 5_000 };
  const userId = 'expiring';
  await project.import([imported({ ...expired, userId })]);
  await Promise.all([
    project.import([imported({ ...expired, userId })], { at: 6_000 }),
    project.save(memory({ id: 'mem_new', userId }), { at: 6_000 }),
  ]);
  expect(await project.list(userId)).toMatchObject([{ id: 'mem_new' }]);
  await expectConsistent(database);
});
