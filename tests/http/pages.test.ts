import { describe, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import type { Page } from '../../sdk/contract/page.ts';
import { ask, getPage, ingest, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

/** Reads all memories of the user, page by page. */
async function walk(userId: string, limit: number): Promise<Memory[]> {
  const walked: Memory[] = [];
  for (let cursor: string | null = null, ended = false; !ended; ended = cursor === null) {
    const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const query = `limit=${limit}${from}`;
    const page: Page = await getPage(server, userId, query);
    cursor = page.nextCursor;
    if (cursor !== null) expect(page.items).toHaveLength(limit);
    walked.push(...page.items);
  }
  return walked;
}

const idsOf = (memories: Memory[]) => memories.map(({ id }) => id);

function newestFirst(a: Memory, b: Memory): number {
  const [left, right] = [a.createdAt + a.id, b.createdAt + b.id];
  return left < right ? 1 : -1;
}

async function saveMany(userId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(50, count - ids.length) });
    const saved = await Promise.all(some.map(() => save(server, userId)));
    ids.push(...saved.map(({ id }) => id));
  }
  return ids;
}

describe('GET /v1/memories', () => {
  test('returns 200 with no items for a user without memories', async () => {
    expect(await getPage(server, newUser())).toEqual({ items: [], nextCursor: null });
  });

  test('returns 200 with whole memories, newest first', async () => {
    const userId = newUser();
    const saved = [];
    for (const content of ['one', 'two', 'three']) {
      const { memoryId: _, ...memory } = await save(server, userId, content);
      saved.push(memory);
    }
    const { items } = await getPage(server, userId);
    expect(items).toEqual(saved.toSorted(newestFirst));
  });

  test('returns 20 memories per page, and nextCursor is null only on the last page', async () => {
    const userId = newUser();
    await saveMany(userId, 40);
    const first = await getPage(server, userId, '');
    expect(first.items).toHaveLength(20);
    expect(first.nextCursor).toEqual(expect.any(String));
    const last = await getPage(server, userId, `cursor=${first.nextCursor}`);
    expect(last.items).toHaveLength(20);
    expect(last.nextCursor).toBeNull();
  });

  test.each([1, 2, 3, 100])('returns all memories in pages of %i', async (limit) => {
    const userId = newUser();
    const ids = await saveMany(userId, 6);
    expect(idsOf(await walk(userId, limit)).toSorted()).toEqual(ids.toSorted());
  });

  test('accepts a different limit for each page', async () => {
    const userId = newUser();
    await saveMany(userId, 6);
    const { items, nextCursor } = await getPage(server, userId, 'limit=2');
    const rest = await getPage(server, userId, `limit=100&cursor=${nextCursor}`);
    expect(idsOf([...items, ...rest.items])).toEqual(idsOf(await walk(userId, 100)));
  });

  test('continues after the memory at the cursor is deleted', async () => {
    const userId = newUser();
    await saveMany(userId, 4);
    const all = idsOf(await walk(userId, 100));
    const { items, nextCursor } = await getPage(server, userId, 'limit=2');
    await ask(server, 'DELETE', `/v1/memories/${items[1]?.id}`);
    const rest = await getPage(server, userId, `cursor=${nextCursor}`);
    expect(idsOf(rest.items)).toEqual(all.slice(2));
  });
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
