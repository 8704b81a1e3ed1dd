import { expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import { getPage, ingest, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';

/* What pages contain, of any size and with any filters, is in model.test.ts. */

const server = await withProject();

test('a page has 20 memories, newest first, and only the last one has no nextCursor', async () => {
  const userId = newUser();
  const saved = await Promise.all(Array.from({ length: 40 }, () => save(server, userId)));
  const placeOf = ({ createdAt, id }: Memory) => createdAt + id;
  const memories = saved.map(({ memoryId: _, ...memory }) => memory);
  memories.sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
  const first = await getPage(server, userId, '');
  expect(first).toEqual({ items: memories.slice(0, 20), nextCursor: expect.any(String) });
  // The next page does not need the memory at the cursor, and may have another limit.
  await server.client.delete(first.items[19]?.id ?? '');
  const last = await getPage(server, userId, `limit=100&cursor=${first.nextCursor}`);
  expect(last).toEqual({ items: memories.slice(20), nextCursor: null });
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
