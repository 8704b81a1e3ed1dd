import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { recordStatements } from '../support/statement-recorder.ts';
import { imported, newProject, type Project } from './fixtures.ts';

/* What a search of a user with thousands of memories sends to the database, and reads from it. */

const memories = 3_000;
const word = 'lantern';

let database: TestDatabase;
let recorder: ReturnType<typeof recordStatements>;
let storage: Storage;
let project: Project;

beforeAll(async () => {
  database = await newDatabase();
  recorder = recordStatements(database.url);
  storage = await openStorage(recorder.url);
  project = await newProject({ storage });
  const given = Array.from({ length: memories }, (_, n) =>
    // Equal texts are found newest first.
    imported({ createdAt: n, content: word, metadata: n === 0 ? '{"of":"ada"}' : '{}' }),
  );
  await project.import(given);
  await query(database.url, 'ANALYZE');
  await project.search(word);
});
afterAll(async () => {
  await storage.close();
  recorder.stop();
  await database.drop();
});

async function sentBy(search: () => Promise<unknown>) {
  recorder.drain();
  await search();
  return recorder.drain();
}

test('memories that a filter rejects are read by few statements', async () => {
  const filter = { metadata: [{ key: 'of', value: 'ada' }] };
  const sent = await sentBy(async () => {
    const found = await project.search(word, { filter, limit: 1 });
    expect(found).toMatchObject([{ metadata: { of: 'ada' } }]);
  });
  expect(sent.filter(({ text }) => text.includes('AS found')).length).toBeLessThan(20);
});

test('after a delete, only some ids are read', async () => {
  const [newest] = await project.search(word, { limit: 1 });
  const removed = newest?.id ?? '';
  await project.remove(removed);
  const sent = await sentBy(async () => {
    expect(await project.search(word, { limit: 1 })).not.toMatchObject([{ id: removed }]);
  });
  const reads = sent.filter(({ text }) => text.startsWith('SELECT id FROM memories'));
  const rows = await Promise.all(
    reads.map(({ text, values }) => query(database.url, text, values)),
  );
  expect(rows.flat().length).toBeGreaterThan(0);
  expect(rows.flat().length).toBeLessThan(memories / 2);
});
