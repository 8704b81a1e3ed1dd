import { expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import type { Page } from '../../sdk/contract/page.ts';
import { ask, bodyOf, expectInvalid, getPage, ingest, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

/*
 * Pages, and their cursors: one continues only the list that it was returned for, with the same
 * user, order and filters. What pages contain, of any size, is in model.test.ts.
 */

const server = await withProject();

const list = '/v1/memories?userId=ada';
const ofBen = '/v1/memories?userId=ben';
const inMay = `${list}&from=2026-05-01`;
const exported = '/v1/export?userId=ada';
const filters = 'type=event&source=even&metadata[third]=true&metadata[plan]=pro';
const filtered = `${list}&${filters}`;
const reversed = filters.split('&').reverse().join('&');

const lists: [first: string, same: string[], others: string[]][] = [
  [list, [`${list}&order=desc`], [ofBen, `${list}&order=asc`, exported, '/v1/users?']],
  [inMay, [`${inMay}T00:00:00Z`], [list, `${list}&from=2026-05-02`, `${inMay}&to=2026-06-01`]],
  [
    filtered,
    [`${list}&limit=7&${reversed}`],
    [
      ...[list, `${list}&type=event`, `${filtered}&metadata[more]=1`, `${filtered}&externalId=1`],
      filtered.replace('source=even', 'source=odd'),
      ...[filtered.replace('true', 'false'), filtered.replace('plan', 'plans')],
    ],
  ],
  [exported, [], ['/v1/export?', '/v1/export?userId=ben', list]],
  ['/v1/users?', ['/v1/users?order=userId'], ['/v1/users?order=memories', '/v1/users?order=bytes']],
  ['/v1/tasks?status=failed', [], ['/v1/tasks?status=processing']],
];

const items = ['ada', 'ada', 'ben'].map((userId, n): Memory => {
  const fields = { type: 'event', source: 'even', status: 'failed' } as const;
  const metadata = { third: true, plan: 'pro' };
  const id = `mem_${n}`;
  return { ...importable(userId), ...fields, metadata, occurredAt: '2026-05-20T00:00:00Z', id };
});
bodyOf(await ask(server, 'POST', '/v1/import', { body: { items } }), 200);

async function firstCursor(path: string, of = server): Promise<string> {
  const { nextCursor } = bodyOf<Page>(await ask(of, 'GET', `${path}&limit=1`), 200);
  return `&cursor=${nextCursor}`;
}

test.each(lists)('GET %s', async (first, same, others) => {
  const cursor = await firstCursor(first);
  for (const path of [first, ...same]) {
    const { items } = bodyOf<Page>(await ask(server, 'GET', path + cursor), 200);
    expect(items.length).toBeWithin(1, 3);
  }
  for (const path of others) expectInvalid(await ask(server, 'GET', path + cursor), 'cursor');
});

test("a key that is bound to a user cannot use another user's cursor", async () => {
  const own = { ...server, key: await server.createKey('default', { userId: 'eve' }) };
  const answer = await ask(own, 'GET', `/v1/memories?${await firstCursor(list)}`);
  expectInvalid(answer, 'cursor');
});

test("another project's cursor gives none of its data", async () => {
  const theirs = { ...server, key: await server.createKey('theirs') };
  for (let n = 0; n < 3; n += 1) await save(theirs, 'ada', 'canary');
  const answer = await ask(server, 'GET', list + (await firstCursor(list, theirs)));
  expect(answer.text).not.toContain('canary');
});

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
