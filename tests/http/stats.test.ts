import { beforeEach, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import type { Stats, UserPage } from '../../sdk/contract/project.ts';
import type { TaskPage } from '../../sdk/contract/tasks.ts';
import { misfit } from '../support/document.ts';
import { ask, bodyOf, getPage, importAll } from '../support/http.ts';
import { type TestServer, withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

/*
 * What a project holds: GET /v1/stats, the largest users, and GET /v1/tasks. The sums themselves
 * are in tests/storage/conformance-project.ts.
 */

let name: string;
let project: TestServer;
const server = await withProject();
beforeEach(async () => {
  name = crypto.randomUUID();
  project = { ...server, key: await server.createKey(name) };
});
const boundTo = async (userId: string): Promise<TestServer> => {
  return { ...server, key: await server.createKey(name, { userId }) };
};

const statsOf = async (as: TestServer) => bodyOf<Stats>(await ask(as, 'GET', '/v1/stats'), 200);
const usersOf = async (as: TestServer, query: string) =>
  bodyOf<UserPage>(await ask(as, 'GET', `/v1/users?${query}`), 200);
const tasksOf = async (query: string) =>
  bodyOf<TaskPage>(await ask(project, 'GET', `/v1/tasks?${query}`), 200);
const idsOf = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);

function complete(userId: string, fields: Partial<Memory> = {}): Memory {
  return { ...importable(userId), id: `mem_${crypto.randomUUID()}`, metadata: {}, ...fields };
}

test('GET /v1/stats counts users, memories, bytes, types and statuses of the project or user', async () => {
  const createdAt = '2020-01-01T00:00:00.000Z';
  const metadata = { a: ['🌊', 1.5, null], title: 'ü' };
  const ofBen = [
    complete('ben', { content: 'text\u2028', metadata }),
    complete('ben', { type: 'ticket', status: 'failed', content: 'x', createdAt }),
  ];
  const empty = await statsOf(project);
  expect(misfit({ $ref: '#/components/schemas/Stats' }, empty)).toBeNull();
  const noTypes = { memory: 0, ticket: 0, document: 0, conversation: 0, event: 0, profile: 0 };
  expect(empty).toEqual({
    ...{ users: 0, memories: 0, bytes: 0, pending: 0, failed: 0, embedded: 0 },
    byType: noTypes,
    byStatus: { processing: 0, complete: 0, failed: 0 },
    ...{ oldestAt: null, newestAt: null },
  });
  await importAll(project, [complete('ada', { content: 'añ🌊語', type: 'memory' }), ...ofBen]);
  const newestAt = complete('ada').createdAt;
  const bytes = Buffer.byteLength(`text\u2028${JSON.stringify(metadata)}x{}`);
  expect(await statsOf(project)).toEqual({
    ...{ users: 2, memories: 3, bytes: bytes + 12, pending: 0, failed: 1, embedded: 0 },
    byType: { ...noTypes, memory: 1, document: 1, ticket: 1 },
    byStatus: { processing: 0, complete: 2, failed: 1 },
    ...{ oldestAt: createdAt, newestAt },
  });
  const ofAda = { users: 1, memories: 1, bytes: 12, newestAt };
  expect(await statsOf(await boundTo('ada'))).toMatchObject(ofAda);
  expect(await statsOf(await boundTo('eve'))).toEqual(empty);
});

test.each([
  ['userId', ['Zoe', 'large', 'many', 'ümit']],
  ['memories', ['many', 'Zoe', 'large', 'ümit']],
  ['bytes', ['large', 'many', 'Zoe', 'ümit']],
])('GET /v1/users lists users by %s, and to a bound key its own user', async (order, expected) => {
  const sizes = { many: 3, large: 50, Zoe: 1, ümit: 1 };
  const memories = Object.entries(sizes).map(([userId, size]) =>
    complete(userId, { content: 'x'.repeat(size) }),
  );
  await importAll(project, [...memories, complete('many', { content: 'xxxx' })]);
  const all = expected.map((userId) => ({
    userId,
    memories: userId === 'many' ? 2 : 1,
    bytes: { many: 11, large: 52 }[userId] ?? 3,
    lastCreatedAt: complete(userId).createdAt,
  }));
  expect(await usersOf(project, `order=${order}`)).toEqual({ items: all, nextCursor: null });
  const first = await usersOf(project, `order=${order}&limit=1`);
  expect(first.items).toEqual(all.slice(0, 1));
  expect(first.nextCursor === null).toBe(order !== 'userId');
  const own = await usersOf(await boundTo('many'), `order=${order}`);
  expect(own.items).toEqual(all.filter(({ userId }) => userId === 'many'));
});

test('GET /v1/tasks lists failed memories with attempts and error, newest first, in pages', async () => {
  const lost = Array.from({ length: 3 }, (_, n) =>
    complete('ada', { status: 'failed', createdAt: `2026-01-0${3 - n}T00:00:00.000Z` }),
  );
  await importAll(project, [...lost, complete('ada')]);
  const page = await tasksOf('status=failed');
  expect(misfit({ $ref: '#/components/schemas/TaskPage' }, page)).toBeNull();
  expect(idsOf(page)).toEqual(lost.map(({ id }) => id));
  const [listed] = (await getPage(project, 'ada', 'status=failed')).items;
  const errorMessage = 'processing failed before the memory was imported';
  expect<object | undefined>(page.items[0]).toEqual({ ...listed, attempts: 0, errorMessage });
  const first = await tasksOf('status=failed&limit=2');
  const rest = await tasksOf(`status=failed&cursor=${first.nextCursor}`);
  expect([...idsOf(first), '', ...idsOf(rest)]).toEqual(idsOf(page).toSpliced(2, 0, ''));
  expect((await tasksOf('status=processing')).items).toEqual([]);
});
