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

const userId = newUser();
const exported = {
  results: [
    {
      id: '0f4b6a5c-6a3e-4f0e-9d5c-1c2b3a4d5e6f',
      memory: 'Prefers window seats',
      hash: 'c1d8f0',
      metadata: { trip: 'Oslo', categories: ['seats'] },
      score: null,
      user_id: userId,
      agent_id: 'travel',
      categories: ['travel'],
      immutable: false,
      expiration_date: null,
      created_at: '2026-03-01T10:00:00.123456-07:00',
      updated_at: '2026-03-02T10:00:00.000000',
    },
    { id: '2', memory: 'Is in Rome', user_id: userId, expiration_date: '2026-03-09', hash: 'x' },
    { id: '3', memory: 'Works at TechCorp', user_id: userId, expiration_date: '2999-01-01' },
    { id: '4', memory: 'Belongs to nobody' },
    { id: '5', user_id: userId },
  ],
  relations: [{ source: 'dev', relationship: 'works_at', target: 'techcorp' }],
  count: 12,
  next: 'https://mem0.example/v3/memories/?page=2',
};
const text = JSON.stringify(exported);

test('an import from mem0 keeps text, user, id, labels and times, and counts all other data', async () => {
  const { code, stderr } = await importFrom('mem0', text);
  expect(code).toBe(1);
  expect(stderr).toBe(
    'item 4: userId: is required\nitem 5: content: is required\n' +
      `${summary(2, 0, 2)}` +
      'Not imported: relations: 1, memories on other pages: 7, hash: 1, expired memories: 1, ' +
      'memories without a user (pass --user <id>): 1.\n',
  );
  const [first, second, ...more] = await all(userId);
  expect(more).toEqual([]);
  expect(first).toMatchObject({
    content: 'Prefers window seats',
    metadata: { trip: 'Oslo', categories: ['seats'], agent_id: 'travel' },
    ...{ type: 'memory', status: 'complete', source: 'mem0', expiresAt: null },
    externalId: '0f4b6a5c-6a3e-4f0e-9d5c-1c2b3a4d5e6f',
    createdAt: '2026-03-01T17:00:00.123Z',
    updatedAt: '2026-03-02T10:00:00.000Z',
  });
  expect(second).toMatchObject({ expiresAt: '2999-01-01T00:00:00.000Z' });
  const found = await server.client.search({ userId, query: 'window seat' });
  expect(found.items.map(({ id }) => id)).toEqual([String(first?.id)]);
});

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
