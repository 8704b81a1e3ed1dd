import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, type TestDatabase } from '../support/postgres.ts';
import { recordStatements } from '../support/statement-recorder.ts';
import { memory, newProject, type Project, record } from './fixtures.ts';
import { lockUser } from './postgres.ts';

/* Writes that arrive together share a transaction. */

let database: TestDatabase;
let recorder: ReturnType<typeof recordStatements>;
let storage: Storage;
let project: Project;

beforeAll(async () => {
  database = await newDatabase();
  recorder = recordStatements(database.url);
  storage = await openStorage(recorder.url);
  project = await newProject({ storage });
});
afterAll(async () => {
  await storage.close();
  recorder.stop();
  await database.drop();
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
