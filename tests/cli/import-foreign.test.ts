import { expect, test } from 'bun:test';
import { newUser } from '../support/http.ts';
import { expectRan, summaryOf, withMemory } from './command.ts';

/* Imports small files in the formats of other services. */

const { server, memory } = await withMemory();

const importFrom = (format: string, text: string, ...more: string[]) =>
  memory(['import', '--from', format, ...more, '-'], { stdin: text });
const all = async (userId: string) =>
  (await server.client.list({ userId, order: 'asc', limit: 100 })).items;
const summary = (imported: number, skipped: number, failed: number) =>
  summaryOf({ imported, skipped, failed });

test('invalid items, ids, times and metadata are reported', async () => {
  const userId = newUser();
  const items = [
    null,
    { user_id: userId, memory: 'a', id: 5 },
    { user_id: userId, memory: 'b', created_at: 'yesterday' },
    { user_id: userId, memory: 'c', metadata: 'blue' },
    { user_id: userId, memory: 'd', metadata: ['blue'] },
  ];
  const { code, stderr } = await importFrom('mem0', JSON.stringify(items));
  expect(stderr).toContain(summary(0, 0, 5));
  expect(stderr.match(/^item \d: \w+/gm)).toEqual([
    'item 1: must',
    'item 2: externalId',
    'item 3: createdAt',
    'item 4: metadata',
    'item 5: metadata',
  ]);
  expect(code).toBe(1);
});

test('lines without an id are recognized by their text after the file has grown', async () => {
  const userId = newUser();
  const linesOf = (texts: string[]) =>
    JSON.stringify(texts.map((memory) => ({ user_id: userId, memory })));
  await importFrom('mem0', linesOf(['a', 'b']));
  expect((await importFrom('mem0', linesOf(['c', 'a', 'b']))).stderr).toContain(summary(1, 2, 0));
  expect((await all(userId)).map(({ content }) => content).sort()).toEqual(['a', 'b', 'c']);
});

test('memories with the same text and different ids are all imported', async () => {
  const userId = newUser();
  const list = ['1', '2'].map((id) => ({ id, memory: 'Likes tea', user_id: userId }));
  expectRan(await importFrom('mem0', JSON.stringify(list)), 0, summary(2, 0, 0));
  expect((await all(userId)).map(({ externalId }) => externalId).sort()).toEqual(['1', '2']);
});

test('ids stay the same across versions, so that a later one skips known memories', async () => {
  const item = { id: '1', memory: 'Likes tea', user_id: 'pinned' };
  await importFrom('mem0', JSON.stringify([item]));
  expect((await all('pinned')).map(({ id }) => id).toSorted()).toEqual([
    'mem_a1d85e4d17ec6b6dc44a0f5d8a7197ba',
  ]);
});
