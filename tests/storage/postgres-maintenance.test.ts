import { afterAll, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { openStorage } from '../../server/storage/open.ts';
import { areWaiting, newDatabase, openTransaction, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { memory, newKey, newProject } from './fixtures.ts';
import { openInSchema } from './postgres.ts';

const database = await newDatabase();
const first = await openStorage(database.url);
const second = await openStorage(database.url);
afterAll(async () => {
  await second.close();
  await database.drop();
});

async function uptime(): Promise<number> {
  await using sql = new SQL(database.url, { max: 1 });
  const [row] = await sql`SELECT value::float8 AS value FROM maintenance WHERE name = 'uptime'`;
  return row.value;
}

test('one server at a time removes expired memories and advances the uptime', async () => {
  const project = await newProject({ storage: first });
  await project.save(memory({ userId: 'u', expiresAt: 2_000 }));
  const run = { now: 3_000, elapsedMs: 1_000 };
  expect(await second.maintain(run)).toEqual({ expiredMemories: 0, expiredKeys: 0, more: false });
  expect(await uptime()).toBe(0);
  expect(await first.maintain(run)).toMatchObject({ expiredMemories: 1 });
  await second.maintain(run);
  expect(await uptime()).toBe(1_000);

  await project.save(memory({ userId: 'u', expiresAt: 2_500 }));
  await first.close();
  expect(await second.maintain(run)).toMatchObject({ expiredMemories: 1 });
  expect(await uptime()).toBe(2_000);
});

test('another server takes over the cleanup of a killed server once its turn has ended', async () => {
  const project = await newProject({ storage: second });
  await project.save(memory({ userId: 'u', expiresAt: 2_000 }));
  const killedServerHolds = (seconds: number) =>
    query(database.url, `UPDATE turns SET holder = 'killed', held_until = $1`, [
      Date.now() + seconds * 1_000,
    ]);
  const run = { now: 3_000, elapsedMs: 1_000 };
  await killedServerHolds(60);
  expect(await second.maintain(run)).toMatchObject({ expiredMemories: 0 });
  await killedServerHolds(-1);
  expect(await second.maintain(run)).toMatchObject({ expiredMemories: 1 });
});

test("a server that stops does not end another server's cleanup turn", async () => {
  await using holder = await openInSchema();
  await (await openStorage(holder.url)).close();
  const storage = await openStorage(holder.url);
  const project = await newProject({ storage });
  await project.save(memory({ expiresAt: 2_000 }));
  const run = { now: 3_000, elapsedMs: 1_000 };
  expect(await storage.maintain(run)).toMatchObject({ expiredMemories: 0 });
  expect(await holder.storage.maintain(run)).toMatchObject({ expiredMemories: 1 });
  await storage.close();
});

test('a memory whose expiry is removed during the cleanup is kept', async () => {
  await using own = await openInSchema();
  const project = await newProject(own);
  const given = memory({ expiresAt: 2_000 });
  await project.save(given);
  const commit = await openTransaction(
    own.url,
    `UPDATE users SET last_change = last_change + 1;
     UPDATE memories SET expires_at = NULL, last_change = last_change + 1`,
  );
  const cleanup = own.storage.maintain({ now: 3_000, elapsedMs: 0 });
  await until(() => areWaiting(own.url, 'users'), { what: 'the wait of the cleanup' });
  await commit();
  expect(await cleanup).toMatchObject({ expiredMemories: 0 });
  expect(await project.get(given.id, { now: 3_000 })).toMatchObject({ expiresAt: null });
});

test('a server that reports an earlier use of a key does not replace a later one', async () => {
  await second.createKey(newKey({ id: 'used' }));
  for (const at of [9, 5]) await second.touchKeys([{ id: 'used', at }]);
  expect(await second.findKey('hash of used')).toMatchObject({ lastUsedAt: 9 });
});
