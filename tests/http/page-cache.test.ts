import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { newUser, whenComplete } from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/* Pages are answered from memory while nothing stored has changed: each of these lists first. */

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function contents(userId: string): Promise<string[]> {
  const { items } = await server.client.list({ userId });
  return items.map(({ content }) => content).sort();
}

describe('a list that was read before', () => {
  test('shows a record complete once it is processed', async () => {
    const userId = newUser();
    const { memoryId } = await server.client.ingest.document({ userId, data: { text: 'a' } });
    await server.client.list({ userId });
    await whenComplete(server, memoryId);
    const { items } = await server.client.list({ userId });
    expect(items.map(({ status }) => status)).toEqual(['complete']);
  });

  test('shows what another process did to the file', async () => {
    const userId = newUser();
    const { id } = await server.client.save({ userId, content: 'before' });
    expect(await contents(userId)).toEqual(['before']);
    const other = new Database(server.databaseUrl.replace('sqlite:', ''));
    other.run("UPDATE memories SET content = 'after' WHERE id = ?", [id]);
    other.close();
    expect(await contents(userId)).toEqual(['after']);
  });

  test('is not shown to another project that asks the same', async () => {
    const userId = newUser();
    await server.client.save({ userId, content: 'of one project' });
    expect(await contents(userId)).toEqual(['of one project']);
    const key = await server.createKey('other');
    const response = await fetch(`${server.url}/v1/memories?userId=${userId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await response.json()).toEqual({ items: [], nextCursor: null });
  });

  test('is right after every one of many writes of all kinds', async () => {
    const write = fc.record({
      kind: fc.constantFrom('save', 'update', 'delete', 'ingest', 'batch', 'deleteAll'),
      at: fc.nat(20),
      text: fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' }),
    });
    const writes = fc.array(write, { minLength: 5, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(writes, async (all) => {
        const userId = newUser();
        const expected = new Map<string, string>();
        for (const { kind, at, text } of all) {
          const id = [...expected.keys()][at % expected.size] ?? null;
          if (kind === 'save') {
            expected.set((await server.client.save({ userId, content: text })).id, text);
          } else if (kind === 'ingest') {
            const { memoryId } = await server.client.ingest.document({ userId, data: { text } });
            expected.set(memoryId, text);
          } else if (kind === 'batch') {
            const item = { type: 'document' as const, userId, data: { text } };
            const { items } = await server.client.ingest.batch({ items: [item, item] });
            for (const { memoryId } of items) expected.set(memoryId, text);
          } else if (kind === 'deleteAll') {
            await server.client.deleteAll({ userId });
            expected.clear();
          } else if (id !== null && kind === 'update') {
            await server.client.update(id, { content: text });
            expected.set(id, text);
          } else if (id !== null) {
            await server.client.delete(id);
            expected.delete(id);
          }
          expect(await contents(userId)).toEqual([...expected.values()].slice(-20).sort());
        }
      }),
      { numRuns: 15 },
    );
  });
});
