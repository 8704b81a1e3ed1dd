import { describe, expect, test } from 'bun:test';
import { limits } from '../../sdk/contract/limits.ts';
import type { ApiKey, UserPage } from '../../sdk/contract/project.ts';
import type { IngestStatuses } from '../../sdk/contract/status.ts';
import { openAdmin } from '../../server/admin.ts';
import { misfit } from '../support/document.ts';
import { ask, askRaw, bodyOf, expectInvalid, getStatus, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

describe('GET /v1/users', async () => {
  const names = ['ada', 'ben', 'eve', 'Zoe', 'ümit', 'a b&c'];
  const project = { ...server, key: await server.createKey('users') };
  for (const userId of names) await save(project, userId);
  await save(project, 'ben');
  await save(server, 'of-another-project');

  const page = async (query = '') =>
    bodyOf<UserPage>(await ask(project, 'GET', `/v1/users${query}`), 200);

  test('lists the users of the project in order of their ids, with their counts', async () => {
    const { items, nextCursor } = await page();
    expect(items.map(({ userId }) => userId)).toEqual(names.toSorted());
    expect(items.find(({ userId }) => userId === 'ben')?.memories).toBe(2);
    for (const { lastCreatedAt } of items) {
      expect(Date.now() - Date.parse(lastCreatedAt)).toBeWithin(0, 60_000);
    }
    expect(nextCursor).toBeNull();
  });

  test('is documented as a list of users with at least one memory', async () => {
    const schema = { $ref: '#/components/schemas/UserPage' };
    const { items, nextCursor } = await page();
    expect(items.map(({ memories }) => memories)).toContain(1);
    expect(misfit(schema, { items, nextCursor })).toBeNull();
    const none = items.map((user) => ({ ...user, memories: 0 }));
    expect(misfit(schema, { items: none, nextCursor })).toContain('/items/0/memories');
  });

  test('returns the same error for any cursor that was not issued', async () => {
    const { body } = await ask(project, 'GET', '/v1/users?cursor=x');
    const message = 'was not issued by this service; start again without a cursor';
    expect(body).toMatchObject({ details: [{ field: 'cursor', message }] });
  });
});

describe('POST /v1/memories/status', () => {
  const post = (body: unknown, headers = {}) =>
    ask(server, 'POST', '/v1/memories/status', { body, headers });

  test('returns the statuses in request order, and lists unknown ids', async () => {
    const userId = newUser();
    const [one, two] = [await save(server, userId), await save(server, userId)];
    const memoryIds = ['mem_none', two.id, 'x', one.id, two.id];
    const { items, notFound } = bodyOf<IngestStatuses>(await post({ memoryIds }), 200);
    expect(notFound).toEqual(['mem_none', 'x']);
    const status = await getStatus(server, two.id);
    expect(items).toEqual([status, await getStatus(server, one.id), status]);
  });

  test('accepts 1,000 ids and no more', async () => {
    const memoryIds = Array.from({ length: 1_000 }, (_, index) => `mem_${index}`);
    const { notFound } = bodyOf<IngestStatuses>(await post({ memoryIds }), 200);
    expect(notFound).toEqual(memoryIds);
    expectInvalid(await post({ memoryIds: [...memoryIds, 'x'] }), 'memoryIds');
  });

  test('accepts a body of 5 MiB', async () => {
    const text = JSON.stringify({ memoryIds: ['x'] }).padEnd(limits.bodyBytesDefault);
    expect((await askRaw(server, 'POST', '/v1/memories/status', text)).status).toBe(200);
    expect((await askRaw(server, 'POST', '/v1/memories/status', `${text} `)).status).toBe(413);
  });

  test.each([[{}], [{ memoryIds: [] }], [{ memoryIds: 'mem_1' }], [{ memoryIds: null }]])(
    'returns 400 for %j',
    async (body) => expectInvalid(await post(body), 'memoryIds'),
  );

  test.each([1, '', null, 'x'.repeat(257), 'a\0b'])('returns 400 for the id %p', async (id) => {
    expectInvalid(await post({ memoryIds: ['mem_1', id] }), 'memoryIds.1');
  });

  test('returns 400 for an unknown field and an unknown parameter', async () => {
    expectInvalid(await post({ memoryIds: ['x'], userId: 'u' }), 'userId');
    const body = { memoryIds: ['x'] };
    expectInvalid(await ask(server, 'POST', '/v1/memories/status?a=1', { body }), 'a');
  });

  test("reports the ids of another project's memories as unknown", async () => {
    const { id } = await save(server, newUser());
    const theirs = { ...server, key: await server.createKey('strangers') };
    const body = { memoryIds: [id] };
    const answer = await ask(theirs, 'POST', '/v1/memories/status', { body });
    expect(answer.body).toEqual({ items: [], notFound: [id] });
  });
});

test('GET /v1/key returns the properties of the key', async () => {
  const expiresAt = Date.now() + 3_600_000;
  const admin = await openAdmin(server.databaseUrl);
  const kind = { userId: 'ada', readOnly: true, expiresAt };
  const { key } = await admin.createKey({ name: 'desktop', project: 'shop', ...kind });
  await admin.close();
  const answer = await ask({ ...server, key }, 'GET', '/v1/key');
  expect(bodyOf<ApiKey>(answer, 200)).toEqual({
    project: 'shop',
    name: 'desktop',
    lastFour: key.slice(-4),
    userId: 'ada',
    readOnly: true,
    expiresAt: new Date(expiresAt).toISOString(),
  });
  expect(answer.text).not.toContain(key);
});
