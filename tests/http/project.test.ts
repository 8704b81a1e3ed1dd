import { describe, expect, test } from 'bun:test';
import type { ApiKey } from '../../sdk/contract/project.ts';
import type { IngestStatuses } from '../../sdk/contract/status.ts';
import { openAdmin } from '../../server/admin.ts';
import { ask, bodyOf, expectInvalid, getStatus, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

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
