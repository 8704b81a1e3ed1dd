import { describe, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import type { Page } from '../../sdk/contract/page.ts';
import type { SearchAnswer } from '../../sdk/contract/search.ts';
import { ask, bodyOf, getPage, getStatus, importAll, newUser, save } from '../support/http.ts';
import { type TestServer, withProject } from '../support/server.ts';
import { completeMemories, importable } from '../support/writes.ts';

const server = await withProject();

async function newProject(): Promise<TestServer> {
  return { ...server, key: await server.createKey(newUser()) };
}

async function exportPage(from: TestServer, query = ''): Promise<Page> {
  return bodyOf(await ask(from, 'GET', `/v1/export?${query}`), 200);
}

async function exportAll(from: TestServer, query = 'limit=1000'): Promise<Memory[]> {
  const all: Memory[] = [];
  for (let cursor = '', ended = false; !ended; ) {
    const { items, nextCursor } = await exportPage(from, query + cursor);
    all.push(...items);
    ended = nextCursor === null;
    cursor = `&cursor=${nextCursor}`;
  }
  return all;
}

const entry = { author: 'user', content: 'Wo ist\nmeine Rückzahlung? 🧠' };

/** Creates a memory of every type for the user, and updates one of them. */
async function fill(project: TestServer, userId: string): Promise<Memory[]> {
  const metadata = { k: [1, { z: null, a: 'ü' }], s: 'x' };
  const body = { userId, content: ' saved\r\n', metadata };
  bodyOf(await ask(project, 'POST', '/v1/memories', { body }), 201);
  const { id } = await save(project, userId, 'older');
  bodyOf(await ask(project, 'PATCH', `/v1/memories/${id}`, { body: { content: 'newer' } }), 200);
  const items = [
    { type: 'ticket', source: 'crm', externalId: '1', data: { subject: 'S', comments: [entry] } },
    { type: 'document', externalId: 'only', data: { text: 'T\n\n'.repeat(5_000), title: 'Title' } },
    { type: 'conversation', source: 'crm', data: { messages: [entry], tags: ['a', 'b'] } },
    { type: 'event', metadata, data: { name: 'n', count: 1.5 } },
    { type: 'profile', data: { summary: 'A person' } },
  ];
  const batch = { items: items.map((item) => ({ userId, ...item })) };
  bodyOf(await ask(project, 'POST', '/v1/ingest/batch', { body: batch }), 202);
  return completeMemories(project, userId);
}

describe('GET /v1/export', () => {
  const control = '\u0001';

  // Together, the memories are larger than an import may be.
  test.each<[name: string, count: number, fields: Partial<Memory>]>([
    ['large texts', 6, { content: `"${'x'.repeat(900_000)}ü` }],
    ['large texts of quotes, two bytes each as JSON', 6, { content: '"'.repeat(450_000) }],
    ['short texts, three bytes a character', 460, { content: '東'.repeat(4_000) }],
    ['short texts, six bytes a character as JSON', 460, { content: control.repeat(2_000) }],
    ['metadata', 270, { content: 'x'.repeat(5_000), metadata: { k: 'ü'.repeat(8_000) } }],
    ['metadata of many values', 350, { metadata: { k: new Array<number>(600).fill(1) } }],
    ['long names', 860, { content: 'x'.repeat(3_000), source: control.repeat(256) }],
  ])('limits a page of %s to what an import accepts', async (_, count, fields) => {
    const [project, elsewhere] = [await newProject(), await newProject()];
    const userId = newUser();
    const items = Array.from({ length: count }, (_, n) => {
      const externalId = 'source' in fields ? `${n}`.padStart(256, control) : null;
      return { ...importable(userId), ...fields, externalId, id: `mem_${userId}_${n}` };
    });
    const part = Math.ceil(count / 9);
    for (let n = 0; n < count; n += part) await importAll(project, items.slice(n, n + part));
    const first = await exportPage(project);
    const last = await exportPage(project, `cursor=${first.nextCursor}`);
    expect([first.items.length + last.items.length, last.nextCursor]).toEqual([count, null]);
    expect((await importAll(elsewhere, first.items)).imported).toBe(first.items.length);
  });
});

describe('an export is imported without loss', () => {
  test('into another project', async () => {
    const [project, elsewhere] = [await newProject(), await newProject()];
    const userId = newUser();
    await fill(project, userId);
    const exported = await exportAll(project);
    const counts = { failedCount: 0, failed: [] };
    const size = exported.length;
    expect(await importAll(elsewhere, exported)).toEqual({ imported: size, skipped: 0, ...counts });
    expect(await exportAll(elsewhere, `userId=${userId}`)).toEqual(exported);
    for (const { id } of exported) {
      expect((await getStatus(elsewhere, id)).status).toBe('complete');
    }
    expect(await getPage(elsewhere, userId)).toEqual(await getPage(project, userId));
    const search = `/v1/memories/search?userId=${userId}&query=meine+R%C3%BCckzahlung`;
    const [here, there] = [await ask(project, 'GET', search), await ask(elsewhere, 'GET', search)];
    expect(bodyOf<SearchAnswer>(there, 200)).toEqual(bodyOf<SearchAnswer>(here, 200));
    expect(await importAll(elsewhere, exported)).toEqual({ imported: 0, skipped: size, ...counts });
    expect(await exportAll(elsewhere, `userId=${userId}`)).toEqual(exported);
  });

  test('a version of a billion can be updated, exported and imported again', async () => {
    const [from, into] = [await newProject(), await newProject()];
    const item = { ...importable(newUser()), version: 1e9 };
    await importAll(from, [item]);
    const path = `/v1/memories/${item.id}`;
    const headers = { 'if-match': `"${1e9}"` };
    const body = { content: 'newer' };
    const updated = await ask(from, 'PATCH', path, { body, headers });
    expect(updated.headers.get('etag')).toBe(`"${1e9 + 1}"`);
    expect(await importAll(into, await exportAll(from))).toMatchObject({ imported: 1 });
    expect((await ask(into, 'GET', path)).headers.get('etag')).toBe(`"${1e9 + 1}"`);
  });
});
