import { expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import { ask, getPage, ingest, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';

/* What pages contain, of any size and with any filters, is in model.test.ts. */

const server = await withProject();

async function saveMany(userId: string, count: number): Promise<Memory[]> {
  const saved = await Promise.all(Array.from({ length: count }, () => save(server, userId)));
  const placeOf = ({ createdAt, id }: Memory) => createdAt + id;
  const memories = saved.map(({ memoryId: _, ...memory }) => memory);
  return memories.sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
}

test('a page has 20 memories, newest first, and only the last one has no nextCursor', async () => {
  const userId = newUser();
  const memories = await saveMany(userId, 40);
  const first = await getPage(server, userId, '');
  expect(first).toEqual({ items: memories.slice(0, 20), nextCursor: expect.any(String) });
  const last = await getPage(server, userId, `cursor=${first.nextCursor}`);
  expect(last).toEqual({ items: memories.slice(20), nextCursor: null });
});

test('a list continues after the memory at the cursor is deleted, with another limit', async () => {
  const userId = newUser();
  const memories = await saveMany(userId, 5);
  const { items, nextCursor } = await getPage(server, userId, 'limit=2');
  await ask(server, 'DELETE', `/v1/memories/${items[1]?.id}`);
  const rest = await getPage(server, userId, `limit=100&cursor=${nextCursor}`);
  expect(rest.items).toEqual(memories.slice(2));
});

test('a page of long texts is complete, wherever it is cut into slices', async () => {
  const userId = newUser();
  // Characters of two UTF-16 units, at even and at odd positions, and a short text between them.
  const texts = ['😀'.repeat(200_000), 'short…', `a${'😀'.repeat(200_000)}`];
  for (const text of texts) {
    await ingest(server, '/v1/ingest/document', { userId, data: { text } });
  }
  const { items } = await getPage(server, userId, 'order=asc');
  expect(items.map(({ content }) => content === texts.shift())).toEqual([true, true, true]);
  expect(Object.keys(items[0] ?? {})).toEqual(Object.keys(items[1] ?? {}));
});
