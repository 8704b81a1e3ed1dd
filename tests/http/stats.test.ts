import { beforeEach, describe, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import type { Stats, UserPage } from '../../sdk/contract/project.ts';
import type { TaskPage } from '../../sdk/contract/tasks.ts';
import { misfit } from '../support/document.ts';
import { ask, bodyOf, getPage, importAll, newUser, save } from '../support/http.ts';
import { type TestServer, withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

/* What a project holds: GET /v1/stats, the largest users, GET /v1/tasks and the status filter. */

let project: TestServer;
const server = await withProject();
beforeEach(async () => {
  project = { ...server, key: await server.createKey(crypto.randomUUID()) };
});

const statsOf = async (as: TestServer) => bodyOf<Stats>(await ask(as, 'GET', '/v1/stats'), 200);
const usersOf = async (as: TestServer, query: string) =>
  bodyOf<UserPage>(await ask(as, 'GET', `/v1/users?${query}`), 200);
const tasksOf = async (as: TestServer, query: string) =>
  bodyOf<TaskPage>(await ask(as, 'GET', `/v1/tasks?${query}`), 200);
const idsOf = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);

function complete(userId: string, fields: Partial<Memory> = {}): Memory {
  return { ...importable(userId), id: `mem_${crypto.randomUUID()}`, ...fields };
}

function failed(userId: string, fields: Partial<Memory> = {}): Memory {
  return complete(userId, { status: 'failed', ...fields });
}

function bytesOf({ content, metadata }: Pick<Memory, 'content' | 'metadata'>): number {
  return Buffer.byteLength(content) + Buffer.byteLength(JSON.stringify(metadata));
}

describe('GET /v1/stats', () => {
  test('of an empty project is all zeros', async () => {
    const stats = await statsOf(project);
    expect(misfit({ $ref: '#/components/schemas/Stats' }, stats)).toBeNull();
    expect(stats).toEqual({
      ...{ users: 0, memories: 0, bytes: 0, pending: 0, failed: 0, embedded: 0 },
      byType: { memory: 0, ticket: 0, document: 0, conversation: 0, event: 0, profile: 0 },
      byStatus: { processing: 0, complete: 0, failed: 0 },
      ...{ oldestAt: null, newestAt: null },
    });
  });

  test('counts users, types and statuses, and every byte of content and metadata', async () => {
    const createdAt = '2020-01-01T00:00:00.000Z';
    const metadata = { a: ['🌊', 1.5, null], title: 'ü' };
    const memories = [
      complete('ada', { content: 'añ🌊語', type: 'memory' }),
      complete('ben', { content: 'text\u2028'.repeat(1_000), metadata }),
      failed('ben', { type: 'ticket', createdAt }),
    ];
    await importAll(project, memories);
    const none = { conversation: 0, event: 0, profile: 0 };
    expect(await statsOf(project)).toEqual({
      ...{ users: 2, memories: 3, pending: 0, failed: 1, embedded: 0 },
      bytes: memories.reduce((sum, one) => sum + bytesOf(one), 0),
      byType: { memory: 1, document: 1, ticket: 1, ...none },
      byStatus: { processing: 0, complete: 2, failed: 1 },
      oldestAt: createdAt,
      newestAt: complete('ada').createdAt,
    });
  });

  test("has neither another project's memories nor, for a bound key, another user's", async () => {
    await save(server, 'ada', 'of another project');
    await save(project, 'ada', 'one');
    await save(project, 'ben', 'three');
    expect(await statsOf(project)).toMatchObject({ users: 2, memories: 2, bytes: 12 });
    const name = crypto.randomUUID();
    const own = { ...server, key: await server.createKey(name, { readOnly: true }) };
    expect(await statsOf(own)).toMatchObject({ users: 0, memories: 0 });
    const ada = { ...server, key: await server.createKey('default', { userId: 'ada' }) };
    expect(await statsOf(ada)).toMatchObject({ users: 1, memories: 1, bytes: 20 });
    const eve = { ...server, key: await server.createKey('default', { userId: 'eve' }) };
    expect(await statsOf(eve)).toMatchObject({ users: 0, memories: 0, bytes: 0 });
  });
});

describe('GET /v1/users', () => {
  const names = ['many', 'large', 'Zoe', 'ümit', 'a b&c'];
  beforeEach(async () => {
    for (const content of ['x', 'x']) await save(project, 'many', content);
    for (const userId of names) {
      await save(project, userId, userId === 'large' ? '語'.repeat(50) : 'x');
    }
    await save(server, 'of-another-project', 'x'.repeat(1_000));
  });

  test.each([
    ['userId', names.toSorted()],
    ['memories', ['many', 'Zoe', 'a b&c', 'large', 'ümit']],
    ['bytes', ['large', 'many', 'Zoe', 'a b&c', 'ümit']],
  ])('by %s', async (order, expected) => {
    const page = await usersOf(project, `order=${order}`);
    const counts: Record<string, object> = {
      many: { memories: 3, bytes: 9 },
      large: { memories: 1, bytes: 152 },
    };
    const users = expected.map((userId) => ({
      userId,
      ...(counts[userId] ?? { memories: 1, bytes: 3 }),
      lastCreatedAt: expect.stringMatching(/^20.+Z$/),
    }));
    expect(page).toEqual({ items: users, nextCursor: null } as never);
    const first = await usersOf(project, `order=${order}&limit=1`);
    expect(first.items).toEqual(page.items.slice(0, 1));
  });

  test.each(['userId', 'memories', 'bytes'])(
    'by %s has only the user of the key',
    async (order) => {
      const userId = newUser();
      const own = { ...server, key: await server.createKey('default', { userId }) };
      await save(server, userId, 'four');
      const { items } = await usersOf(own, `order=${order}`);
      expect(items).toMatchObject([{ userId, memories: 1, bytes: 6 }]);
    },
  );
});

describe('GET /v1/tasks', () => {
  test('lists failed memories with attempts and error, newest first, in pages', async () => {
    const createdAt = (n: number) => new Date(Date.UTC(2026, 0, n + 1)).toISOString();
    const lost = Array.from({ length: 5 }, (_, n) => failed('ada', { createdAt: createdAt(n) }));
    await importAll(project, [...lost, complete('ada')]);
    const expected = lost.map(({ id }) => id).reverse();
    const page = await tasksOf(project, 'status=failed');
    expect(misfit({ $ref: '#/components/schemas/TaskPage' }, page)).toBeNull();
    expect(idsOf(page)).toEqual(expected);
    const [listed] = (await getPage(project, 'ada', 'status=failed')).items;
    const errorMessage = 'processing failed before the memory was imported';
    expect(page.items[0]).toEqual({ ...listed, attempts: 0, errorMessage } as never);
    const first = await tasksOf(project, 'status=failed&limit=2');
    const rest = await tasksOf(project, `status=failed&cursor=${first.nextCursor}`);
    expect([idsOf(first), idsOf(rest)]).toEqual([expected.slice(0, 2), expected.slice(2)]);
    expect((await tasksOf(project, 'status=processing')).items).toEqual([]);
  });
});
