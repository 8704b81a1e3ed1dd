import { expect, test } from 'bun:test';
import type { Deleted } from '../../sdk/contract/transfer.ts';
import { ask, bodyOf, expectError, getPage, ingest, save } from '../support/http.ts';
import { leaseRecord } from '../support/queue.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

async function erase(userId: string): Promise<number> {
  const path = `/v1/memories?userId=${encodeURIComponent(userId)}`;
  return bodyOf<Deleted>(await ask(server, 'DELETE', path), 200).deleted;
}

test('deletes and counts memories of every type and status, and then there are none', async () => {
  const { userId, memoryId, externalId, fail } = await leaseRecord(server);
  const { id } = await save(server, userId, 'canary');
  const items = Array(150).fill({ type: 'event', userId, data: { name: 'canary' } });
  bodyOf(await ask(server, 'POST', '/v1/ingest/batch', { body: { items } }), 202);
  expect([await erase(userId), await erase(userId)]).toEqual([152, 0]);
  expect(await getPage(server, userId)).toEqual({ items: [], nextCursor: null });
  expect(await server.client.search({ userId, query: 'canary' })).toMatchObject({ items: [] });
  for (const path of [id, memoryId, `${id}/status`, `${memoryId}/status`]) {
    expectError(await ask(server, 'GET', `/v1/memories/${path}`), 404, 'not_found');
  }
  expect(await fail('too late')).toBe(false);
  const record = { userId, externalId, data: { text: 'anew' } };
  expect((await ingest(server, '/v1/ingest/document', record)).memoryId).not.toBe(memoryId);
});

test.each([
  ['another case', 'Erased', 'erased'],
  ['a longer name', 'era', 'era%'],
  ['white space', 'user', 'user '],
  ['another Unicode normal form', '\u00e9', 'e\u0301'],
  ['query delimiters', 'a', 'a&userId=b'],
])('keeps the data of other users: %s', async (_, userId, other) => {
  await save(server, userId);
  await save(server, other);
  expect(await erase(userId)).toBe(1);
  expect((await getPage(server, other)).items).toHaveLength(1);
  expect(await erase(other)).toBe(1);
});
