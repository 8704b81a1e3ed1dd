import { expect, test } from 'bun:test';
import type { SearchAnswer } from '../../sdk/contract/search.ts';
import type { Deleted } from '../../sdk/contract/transfer.ts';
import { misfit } from '../support/document.ts';
import { ask, bodyOf, expectError, getPage, ingest, newUser, save } from '../support/http.ts';
import { leaseRecord } from '../support/queue.ts';
import { withProject } from '../support/server.ts';
import { sendKeyed } from '../support/writes.ts';

/* DELETE /v1/memories?userId=. */

const server = await withProject();

const pathOf = (userId: string) => `/v1/memories?userId=${encodeURIComponent(userId)}`;

async function erase(userId: string, from = server): Promise<number> {
  return bodyOf<Deleted>(await ask(from, 'DELETE', pathOf(userId)), 200).deleted;
}

const canary = 'canary text';

test('returns 200 with the number of deleted memories, of every type and status', async () => {
  const userId = newUser();
  const { id } = await save(server, userId, canary);
  const data = { text: canary };
  const record = { userId, source: 's', externalId: 'e', data };
  const { memoryId } = await ingest(server, '/v1/ingest/document', record);
  const items = Array(150).fill({ type: 'event', userId, data: { name: canary } });
  bodyOf(await ask(server, 'POST', '/v1/ingest/batch', { body: { items } }), 202);
  expect(await erase(userId)).toBe(152);
  expect(await getPage(server, userId)).toEqual({ items: [], nextCursor: null });
  for (const gone of [id, memoryId]) {
    expectError(await ask(server, 'GET', `/v1/memories/${gone}`), 404, 'not_found');
    expectError(await ask(server, 'GET', `/v1/memories/${gone}/status`), 404, 'not_found');
  }
  const search = await ask(server, 'GET', `/v1/memories/search?userId=${userId}&query=canary`);
  expect(bodyOf<SearchAnswer>(search, 200).items).toEqual([]);
  const anew = await ingest(server, '/v1/ingest/document', record);
  expect(anew.memoryId).not.toBe(memoryId);
});

test('returns 200 with 0 for a user without memories, and on a second call', async () => {
  const userId = newUser();
  expect(await erase(userId)).toBe(0);
  await save(server, userId);
  expect([await erase(userId), await erase(userId)]).toEqual([1, 0]);
});

test('is documented to return any number of deleted memories, including 0', async () => {
  const schema = { $ref: '#/components/schemas/DeletedMemories' };
  expect(misfit(schema, { deleted: await erase(newUser()) })).toBeNull();
  expect(misfit(schema, { deleted: -1 })).toBeString();
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

test('deletes memories that are being processed, and their completion changes nothing', async () => {
  const leased = await leaseRecord(server);
  expect(await erase(leased.userId)).toBe(1);
  expect(await leased.fail('too late')).toBe(false);
  const answer = await ask(server, 'GET', `/v1/memories/${leased.memoryId}/status`);
  expectError(answer, 404, 'not_found');
});

test('returns 400 for a list parameter, because an erasure has no filters', async () => {
  const userId = newUser();
  await save(server, userId);
  for (const name of ['type', 'source', 'limit', 'cursor', 'order', 'metadata[k]']) {
    const answer = await ask(server, 'DELETE', `${pathOf(userId)}&${name}=1`);
    expectError(answer, 400, 'invalid_request', name);
  }
  expect((await getPage(server, userId)).items).toHaveLength(1);
});

const eraseOf = (userId: string) => ({ method: 'DELETE', path: pathOf(userId) });

test('a used idempotency key is rejected for another user, and erases nothing', async () => {
  const [userId, other] = [newUser(), newUser()];
  await save(server, other);
  await sendKeyed(server, eraseOf(userId), userId);
  const answer = await sendKeyed(server, eraseOf(other), userId);
  expectError(answer, 400, 'idempotency_key_reused');
  expect((await getPage(server, other)).items).toHaveLength(1);
});
