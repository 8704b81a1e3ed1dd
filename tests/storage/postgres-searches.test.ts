import { afterAll, expect, test } from 'bun:test';
import { newDatabase, query } from '../support/postgres.ts';
import { imported } from './fixtures.ts';
import { openRecorded } from './postgres.ts';

/* What a search of a user with thousands of memories sends to the database, and reads from it. */

const memories = 3_000;
const word = 'lantern';

const recorded = await openRecorded(await newDatabase());
const { database, project, recorder } = recorded;

const given = Array.from({ length: memories }, (_, n) =>
  // Equal texts are found newest first.
  imported({ createdAt: n, content: word, metadata: n === 0 ? '{"of":"ada"}' : '{}' }),
);
await project.import(given);
await query(database.url, 'ANALYZE');
await project.search(word);
afterAll(() => recorded[Symbol.asyncDispose]());

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
