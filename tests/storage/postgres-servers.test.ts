import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connectStorage, openStorage } from '../../server/storage/open.ts';
import type { ConnectedStorage, Storage } from '../../server/storage/storage.ts';
import {
  areWaiting,
  endSessions,
  newWholeDatabase,
  openTransaction,
  postgresUrl,
  query,
} from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { useModel } from './embedded.ts';
import { claimOne, complete, imported, leaseMs, memory, newKey, newProject } from './fixtures.ts';
import { openInSchema, openWithFastTimers } from './postgres.ts';
import { opened, project, withStorage } from './suite.ts';

/* Several servers on one database: tasks, the cleanup, keys, models, rate limits and users. */

let tasks: ConnectedStorage;

withStorage(openInSchema);
beforeAll(async () => {
  tasks = await connectStorage({ kind: 'postgres', url: opened.url });
});
afterAll(() => tasks.close());

test('a task that another transaction is completing delays no other claim, and is not claimed', async () => {
  const completing = await project.acceptOne();
  const free = await project.acceptOne();
  const completion = `UPDATE tasks SET state = 'complete', run_at = NULL WHERE memory_id = $1`;
  const commit = await openTransaction(opened.url, completion, [completing]);
  const request = { owner: 'e', now: 2_000, leaseMs, horizon: 62_000, limit: 100 };
  expect(await tasks.claimTasks(request)).toMatchObject([{ memoryId: free }]);
  await commit();
  expect(await tasks.claimTasks(request)).toEqual([]);
});

test('closing the task storage waits for results that are being stored', async () => {
  const own = await connectStorage({ kind: 'postgres', url: opened.url });
  const id = await project.acceptOne();
  const request = { owner: 'c', now: 2_000, leaseMs, horizon: 62_000, limit: 1 };
  const tasks = await own.claimTasks(request);
  const storing = own.completeTasks(tasks.map((task) => ({ ...task, now: 3_000, chunks: 1 })));
  await own.close();
  expect(await storing).toEqual([true]);
  expect(await project.status(id)).toMatchObject({ status: 'complete' });
});

test("a claim leases the task for the requested time of the database's clock", async () => {
  await project.acceptOne();
  await tasks.claimTasks({ owner: 'd', now: 2_000, leaseMs, horizon: 62_000, limit: 1 });
  const text = `SELECT (leased_until / 1000.0 - extract(epoch FROM now()))::float8 AS seconds
    FROM tasks WHERE lease_owner = 'd'`;
  const [row] = await query(opened.url, text);
  expect(Number(row?.seconds)).toBeWithin(leaseMs / 2_000, leaseMs / 1_000 + 1);
});

test('completing a task does not change the user with the same id in another project', async () => {
  const other = await newProject(opened);
  await other.save(memory());
  const changes = () => {
    const text = 'SELECT last_change::text AS change FROM users WHERE project_id = $1';
    return query(opened.url, text, [other.id]);
  };
  const before = await changes();
  expect(before).toHaveLength(1);
  await project.acceptOne();
  expect(await complete(opened.storage, await claimOne(opened.storage))).toBe(true);
  expect(await changes()).toEqual(before);
});

/** The time of the database's clock, in `seconds`. */
const inSeconds = (seconds: number) => `((extract(epoch FROM now()) + ${seconds}) * 1000)::bigint`;

/** Opens two servers on a database with two records. */
async function openServers() {
  // The heartbeat runs every 50 ms, so that a slow database keeps up with it.
  const beating = await openInSchema({ open: (url) => openWithFastTimers(url, 50) });
  const { url, storage } = beating;
  const own = await newProject(beating);
  for (let n = 0; n < 2; n += 1) await own.acceptOne();
  return {
    url,
    storage,
    other: await openStorage(url),
    endLeasesIn: (seconds: number) =>
      query(url, `UPDATE tasks SET leased_until = ${inSeconds(seconds)}`),
    /** Waits until the owner `alive` has extended its lease, and returns all extended leases. */
    extended() {
      const text = `SELECT lease_owner AS owner,
          leased_until <= ${inSeconds(leaseMs / 1_000 + 1)} AS "isAsRequested"
        FROM tasks WHERE leased_until > ${inSeconds(20)}`;
      const fits = (rows: { owner?: unknown }[]) => rows.some(({ owner }) => owner === 'alive');
      return until(() => query(url, text), { what: 'an extended lease', fits });
    },
    [Symbol.asyncDispose]: () => beating.dispose(),
  };
}

const onlyAlive = [{ owner: 'alive', isAsRequested: true }];

test('a server extends the leases of its own tasks as requested, but not those of another', async () => {
  await using servers = await openServers();
  const { storage, other, endLeasesIn, extended } = servers;
  await claimOne(storage, { owner: 'alive' });
  await claimOne(other, { owner: 'gone' });
  await other.close();
  await endLeasesIn(20);
  expect(await extended()).toEqual(onlyAlive);
});

test('a server extends its leases while another transaction has locked one of the tasks', async () => {
  await using servers = await openServers();
  const { url, storage, other, extended } = servers;
  await claimOne(storage, { owner: 'alive' });
  await claimOne(storage, { owner: 'locked' });
  await other.close();
  const lock = `UPDATE tasks SET ordinal = ordinal WHERE lease_owner = $1`;
  const unlock = await openTransaction(url, lock, ['locked']);
  await query(url, `UPDATE tasks SET leased_until = ${inSeconds(20)} WHERE lease_owner = 'alive'`);
  expect(await extended()).toEqual(expect.arrayContaining(onlyAlive));
  await unlock();
});

test('a server does not extend a lease that it has lost to another server', async () => {
  await using servers = await openServers();
  const { storage, other, endLeasesIn, extended } = servers;
  await claimOne(storage, { owner: 'slow' });
  await endLeasesIn(-1);
  await claimOne(other, { owner: 'gone' });
  await other.close();
  await claimOne(storage, { owner: 'alive' });
  await endLeasesIn(20);
  expect(await extended()).toEqual(onlyAlive);
});

test('one server at a time cleans up and advances the uptime, until it stops or is killed', async () => {
  await using own = await openInSchema();
  const { url } = own;
  const second = await openStorage(url);
  const project = await newProject({ storage: second });
  const expire = () => project.save(memory({ expiresAt: 2_000 }));
  const run = { now: 3_000, elapsedMs: 1_000 };
  const uptime = () => query(url, `SELECT value::int4 FROM maintenance WHERE name = 'uptime'`);
  await expire();
  const nothing = { expiredMemories: 0, expiredKeys: 0, more: false };
  expect(await second.maintain(run)).toEqual(nothing);
  expect(await uptime()).toEqual([{ value: 0 }]);
  // The end of another server does not end the turn.
  await (await openStorage(url)).close();
  expect(await second.maintain(run)).toEqual(nothing);
  expect(await own.storage.maintain(run)).toMatchObject({ expiredMemories: 1 });
  expect(await uptime()).toEqual([{ value: 1_000 }]);
  await expire();
  await own.storage.close();
  expect(await second.maintain(run)).toMatchObject({ expiredMemories: 1 });
  expect(await uptime()).toEqual([{ value: 2_000 }]);
  await expire();
  const killedServerHolds = (until: number) =>
    query(url, `UPDATE turns SET holder = 'killed', held_until = $1`, [until]);
  await killedServerHolds(Date.now() + 60_000);
  expect(await second.maintain(run)).toEqual(nothing);
  await killedServerHolds(Date.now() - 1_000);
  expect(await second.maintain(run)).toMatchObject({ expiredMemories: 1 });
  await second.close();
});

test('a server whose clock is ahead deletes no memory before it expires', async () => {
  const now = Date.now();
  const given = memory({ expiresAt: now + 3_600_000 });
  await project.save(given);
  const ahead = { now: now + 7_200_000, elapsedMs: 0 };
  expect(await opened.storage.maintain(ahead)).toMatchObject({ expiredMemories: 0 });
  expect(await project.get(given.id)).toMatchObject({ id: given.id });
});

test('a memory whose expiry is removed during the cleanup is kept', async () => {
  const given = memory({ expiresAt: 2_000 });
  await project.save(given);
  const commit = await openTransaction(
    opened.url,
    `UPDATE users SET last_change = last_change + 1;
     UPDATE memories SET expires_at = NULL, last_change = last_change + 1`,
  );
  const cleanup = opened.storage.maintain({ now: 3_000, elapsedMs: 0 });
  await until(() => areWaiting(opened.url, 'users'), { what: 'the wait of the cleanup' });
  await commit();
  expect(await cleanup).toMatchObject({ expiredMemories: 0 });
  expect(await project.get(given.id, { now: 3_000 })).toMatchObject({ expiresAt: null });
});

test('a server that reports an earlier use of a key does not replace a later one', async () => {
  const { storage } = opened;
  await storage.createKey(newKey({ id: 'used' }));
  for (const at of [9, 5]) await storage.touchKeys([{ id: 'used', at }]);
  expect(await storage.findKey('hash of used')).toMatchObject({ lastUsedAt: 9 });
});

test('while another server changes the model, no work with the former one is stored', async () => {
  const { storage, url } = opened;
  const modelId = await useModel(opened);
  // A change of the model does not see a user who is created meanwhile.
  const change = await openTransaction(url, 'UPDATE models SET is_present = 0');
  await project.save(memory());
  const user = { projectId: project.id, userId: 'u', modelId };
  const { from, upTo } = await storage.memoriesToEmbed({ ...user, limit: 1 });
  const stored = storage.storeVectors({ ...user, from, upTo, vectors: [] });
  await Promise.race([stored, until(() => areWaiting(url, 'models'), { what: 'a lock' })]);
  await change();
  expect(await stored).toBe(false);
});

test.each([
  ['has ended', '-1 second'],
  ['began before the clock was set back', '1 hour'],
])('a rate-limit window that %s is followed by another', async (_, ahead) => {
  const other = await openStorage(opened.url);
  const reserve = async (storage: Storage, amount: number) => {
    const request = { projectId: project.id, amount, limit: 5, seconds: 60 };
    const grant = await storage.reserveQuota?.(request);
    if (grant === undefined) throw new Error('this storage has no reserveQuota()');
    return grant;
  };
  await reserve(opened.storage, 5);
  const moved = `UPDATE quotas SET ends_at = clock_timestamp() + interval '${ahead}'
    WHERE project_id = $1`;
  await query(opened.url, moved, [project.id]);
  const { endsInMs, ...grant } = await reserve(other, 3);
  expect(grant).toMatchObject({ granted: 3, available: 2 });
  expect(endsInMs).toBeWithin(59_000, 60_001);
  const { endsAt } = grant;
  expect(await reserve(opened.storage, 3)).toMatchObject({ granted: 2, available: 0, endsAt });
  await other.close();
});

test('a search sees that another server has erased the user and created it again', async () => {
  await project.save(memory({ content: 'old lantern' }));
  expect(await project.search('lantern')).toHaveLength(1);
  await project.erase();
  await project.save(memory({ content: 'new lantern' }));
  // A recreated user starts at a random change number, which may be lower than the previous one.
  await query(opened.url, 'UPDATE memories SET last_change = 1');
  await query(opened.url, 'UPDATE users SET last_change = 1');
  const found = await project.search('lantern');
  expect(found.map(({ content }) => content)).toEqual(['new lantern']);
});

test('the database keeps no id of a user without memories', async () => {
  const [deleted, kept] = [memory({ userId: 'gone 1' }), memory({ userId: 'kept' })];
  await project.save(deleted);
  await project.save(kept);
  await project.save(memory({ userId: 'gone 2', expiresAt: 5_000 }));
  await project.remove(deleted.id);
  await opened.storage.maintain({ now: 5_000, elapsedMs: 0 });
  // The id is in use, so the import stores nothing.
  await project.import([imported({ id: kept.id, userId: 'gone 3' })]);
  const text = `SELECT user_id FROM users WHERE user_id LIKE 'gone%'`;
  expect(await query(opened.url, text)).toEqual([]);
});

test('after a failover that has lost a save, a search finds the save that replaces it', async () => {
  const { url } = opened;
  await project.save(memory({ content: 'first lantern' }));
  await query(url, 'CREATE TABLE former AS SELECT * FROM users');
  await project.save(memory({ content: 'lost lantern' }));
  expect(await project.search('lantern')).toHaveLength(2);
  // The rows of the asynchronous standby. A failover ends all sessions.
  await query(url, `DELETE FROM memories WHERE content = 'lost lantern'`);
  await query(url, 'DELETE FROM users');
  await query(url, 'INSERT INTO users SELECT * FROM former');
  const [row] = await query(url, 'SELECT to_regnamespace(current_schema())::oid AS schema');
  await endSessions(url, `memory reader ${row?.schema}`);
  await project.save(memory({ content: 'new lantern' }));
  const found = await until(() => project.search('lantern').catch(() => null));
  expect(found.map(({ content }) => content).sort()).toEqual(['first lantern', 'new lantern']);
});

test('users are listed in bytewise order in a database with a linguistic collation', async () => {
  const base = await postgresUrl();
  // A server at TEST_POSTGRES_URL may have been built without ICU.
  const icu = await query(base, `SELECT 1 FROM pg_collation WHERE collprovider = 'i' LIMIT 1`);
  if (icu.length === 0) return;
  const options = `TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'`;
  await using own = await openInSchema({ database: await newWholeDatabase(options) });
  const project = await newProject(own);
  for (const userId of ['b', 'ä', 'B', 'a']) await project.save(memory({ userId }));
  const { items } = await project.users();
  expect(items.map(({ userId }) => userId)).toEqual(['B', 'a', 'b', 'ä']);
});
