import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { bucketOf } from '../../server/bucket.ts';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, type TestDatabase } from '../support/postgres.ts';
import { recordStatements } from '../support/statement-recorder.ts';
import { memory, newProject, type Project, record } from './fixtures.ts';

/* Writes that arrive together share a transaction. */

let database: TestDatabase;
let recorder: ReturnType<typeof recordStatements>;
let storage: Storage;
let project: Project;

beforeAll(async () => {
  database = await newDatabase();
  const url = new URL(database.url);
  recorder = recordStatements({ hostname: url.hostname, port: Number(url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(recorder.port);
  storage = await openPostgres(url.href);
  project = await newProject({ storage });
});
afterAll(async () => {
  await storage.close();
  recorder.stop();
  await database.drop();
});

/** Starts ten writes at once and returns the number of their transactions. */
async function transactionsOf(write: () => Promise<unknown>): Promise<number> {
  recorder.take();
  await Promise.all(Array.from({ length: 10 }, write));
  return recorder.take().filter(({ text }) => text === 'COMMIT').length;
}

test('saves that arrive together are stored in one transaction', async () => {
  expect(await transactionsOf(() => project.save(memory()))).toBe(1);
});

test('records that arrive together are stored in one transaction', async () => {
  // Before the first ingest, the pending records are counted.
  await project.accept([record()]);
  expect(await transactionsOf(() => project.accept([record()]))).toBe(1);
});

test("a user's saves share a transaction again after a lock on the user has ended", async () => {
  const userId = 'locked';
  const save = () => project.save(memory({ userId }));
  await save();
  const sql = new SQL(database.url, { max: 1 });
  const session = await sql.reserve();
  await session`BEGIN`;
  await session`SELECT 1 FROM users
    WHERE user_id = ${userId} AND bucket = ${bucketOf(userId)} FOR UPDATE`;
  const waiting = save();
  // Each attempt waits 200 ms for the lock: first in a group, then alone.
  await Bun.sleep(600);
  await session`COMMIT`;
  session.release();
  await sql.close();
  await waiting;
  expect(await transactionsOf(save)).toBe(1);
});
