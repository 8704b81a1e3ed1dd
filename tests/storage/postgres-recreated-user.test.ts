import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { memory, newProject, type Project } from './fixtures.ts';

let database: TestDatabase;
let storage: Storage;
let project: Project;

beforeAll(async () => {
  database = await newDatabase();
  storage = await openPostgres(database.url);
  project = await newProject({ storage, reopen: async () => storage, dispose: async () => {} });
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
