import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { imported, memory, newProject, type Project } from './fixtures.ts';

let database: TestDatabase;
let storage: Storage;
let project: Project;

beforeAll(async () => {
  database = await newDatabase();
  storage = await openStorage(database.url);
  project = await newProject({ storage });
});
afterAll(async () => {
  await storage.close();
  await database.drop();
});

test('a search sees that another server has erased the user and created it again', async () => {
  await project.save(memory({ content: 'old lantern' }));
  expect(await project.search('lantern')).toHaveLength(1);
  await project.erase();
  await project.save(memory({ content: 'new lantern' }));
  // A recreated user starts at a random change number, which may be lower than the previous one.
  await query(database.url, 'UPDATE memories SET last_change = 1');
  await query(database.url, 'UPDATE users SET last_change = 1');
  const found = await project.search('lantern');
  expect(found.map(({ content }) => content)).toEqual(['new lantern']);
});

test('the database keeps no id of a user without memories', async () => {
  const [deleted, kept] = [memory({ userId: 'gone 1' }), memory({ userId: 'kept' })];
  await project.save(deleted);
  await project.save(kept);
  await project.save(memory({ userId: 'gone 2', expiresAt: 5_000 }));
  await project.remove(deleted.id);
  await storage.maintain({ now: 5_000, elapsedMs: 0 });
  // The id is in use, so the import stores nothing.
  await project.import([imported({ id: kept.id, userId: 'gone 3' })]);
  const text = `SELECT user_id FROM users WHERE user_id LIKE 'gone%'`;
  expect(await query(database.url, text)).toEqual([]);
});
