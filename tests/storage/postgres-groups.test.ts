import { afterAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import {
  createTrigger,
  newDatabase,
  newWholeDatabase,
  openTransaction,
  postgresUrl,
  query,
} from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { until } from '../support/until.ts';
import { claim, complete, imported, keyed, memory, newProject, record } from './fixtures.ts';
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
  await using own = await openLikeCitus();
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

/**
 * A database that does not keep ids unique: it has the setting that only Citus has, and the primary
 * key that the table has on Citus.
 */
async function openLikeCitus() {
  const whole = await newWholeDatabase();
  await query(whole.url, `ALTER DATABASE ${whole.name} SET citus.shard_count = 32`);
  const opened = await openRecorded(whole);
  await query(whole.url, 'ALTER TABLE memories DROP CONSTRAINT memories_pkey');
  await query(whole.url, 'ALTER TABLE memories ADD PRIMARY KEY (project_id, id, user_id)');
  return opened;
}

test.each([10, 200])(
  'imports of the same %i ids that arrive together store each once',
  async (count) => {
    await using own = await openLikeCitus();
    const { project } = own;
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
  await using own = await openLikeCitus();
  const { database, project, storage } = own;
  const other = await newProject({ storage });
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

const rounds = 6;
const keysPerRound = 10;
const sendsPerKey = 4;
/** There are fewer users than keys, so writes with different keys contend for the same users. */
const users = 5;

/**
 * Makes a transaction pause before each key that it locks, so that transactions overlap. PostgreSQL
 * then counts a deadlock before the service's own limit for a lock.
 */
async function slowLocks(url: string, name: string): Promise<void> {
  const pause = 'PERFORM pg_sleep(0.005);';
  await createTrigger(url, 'BEFORE INSERT ON idempotency_keys', pause);
  await createTrigger(url, 'BEFORE INSERT OR UPDATE ON users', pause);
  await query(url, `ALTER DATABASE "${name}" SET deadlock_timeout = '50ms'`);
}

test('groups of two servers with the same keys and users have one effect each and no deadlock', async () => {
  const { url, name, drop } = await newWholeDatabase();
  await (await openStorage(url)).close();
  await slowLocks(url, name);
  const servers = [await openStorage(url), await openStorage(url)];
  const projects = await Promise.all(servers.map((storage) => newProject({ storage }, 'shared')));
  const random = createRandom(1);
  for (let round = 0; round < rounds; round += 1) {
    const sends = Array.from({ length: keysPerRound * sendsPerKey }, (_, at) => {
      const key = `${round} ${at % keysPerRound}`;
      return { key, userId: `user ${(at % keysPerRound) % users}`, at, order: random.next() };
    });
    const results = await Promise.all(
      sends
        .toSorted((a, b) => a.order - b.order)
        .map(async ({ key, userId, at }) => {
          const project = projects[Math.floor(at / keysPerRound) % 2];
          const idempotency = keyed(key);
          return { key, result: await project?.save(memory({ userId }), { idempotency }) };
        }),
    );
    for (const own of Map.groupBy(results, ({ key }) => key).values()) {
      expect(own.filter(({ result }) => result?.replayed === false)).toHaveLength(1);
      expect(new Set(own.map(({ result }) => result?.response.body)).size).toBe(1);
    }
  }
  for (const server of servers) await server.close();
  const memories = await query(url, 'SELECT count(*)::int4 AS count FROM memories');
  expect(memories).toEqual([{ count: rounds * keysPerRound }]);
  expect(await countDeadlocks(name)).toBe(0);
  await drop();
});

/** Waits for the end of all sessions, because a session reports its statistics when it ends. */
async function countDeadlocks(name: string): Promise<unknown> {
  const base = await postgresUrl();
  const isIdle = async () =>
    (await query(base, 'SELECT 1 FROM pg_stat_activity WHERE datname = $1', [name])).length === 0;
  await until(isIdle, { what: 'the end of all sessions' });
  const text = 'SELECT deadlocks::int4 FROM pg_stat_database WHERE datname = $1';
  return (await query(base, text, [name]))[0]?.deadlocks;
}
