import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { memory, newProject } from './fixtures.ts';

let database: TestDatabase;
let first: Storage;
let second: Storage;

beforeAll(async () => {
  database = await newDatabase();
  first = await openPostgres(database.url);
  second = await openPostgres(database.url);
});
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
  const project = await newProject({
    storage: first,
    reopen: async () => first,
    dispose: async () => {},
  });
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
  const project = await newProject({
    storage: second,
    reopen: async () => second,
    dispose: async () => {},
  });
  await project.save(memory({ userId: 'u', expiresAt: 2_000 }));
  const killedServerHolds = (interval: string) =>
    query(
      database.url,
      `UPDATE maintenance SET holder = 'killed', held_until = now() + interval '${interval}'
       WHERE name = 'turn'`,
    );
  const run = { now: 3_000, elapsedMs: 1_000 };
  await killedServerHolds('1 minute');
  expect(await second.maintain(run)).toMatchObject({ expiredMemories: 0 });
  await killedServerHolds('-1 second');
  expect(await second.maintain(run)).toMatchObject({ expiredMemories: 1 });
});
