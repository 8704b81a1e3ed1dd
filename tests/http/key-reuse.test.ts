import { describe, expect, test } from 'bun:test';
import type { SavedMemory } from '../../sdk/contract/memory.ts';
import {
  askRaw,
  bodyOf,
  expectError,
  expectInvalid,
  getMemory,
  newUser,
  save,
} from '../support/http.ts';
import { withProject } from '../support/server.ts';
import {
  completeMemories,
  markOf,
  prepare,
  saveOf,
  sendKeyed,
  type WriteRequest,
  writes,
  writesWithBody,
} from '../support/writes.ts';

const server = await withProject();

/** Sends all requests with the same key. `others` must be rejected and change nothing. */
async function refusesReuse(userId: string, first: WriteRequest, ...others: WriteRequest[]) {
  expect(markOf(await sendKeyed(server, first, userId))).toBe('created');
  const before = await completeMemories(server, userId);
  for (const other of others) {
    const answer = await sendKeyed(server, other, userId);
    expectError(answer, 400, 'idempotency_key_reused');
    expect(markOf(answer)).toBeNull();
  }
  expect(await completeMemories(server, userId)).toEqual(before);
  expect(markOf(await sendKeyed(server, first, userId))).toBe('replayed');
}

describe('a used key is rejected with idempotency_key_reused', () => {
  test.each(writes)('for another id or user: %s', async (_, make) => {
    const { userId, request } = await prepare(server, make);
    const other = await save(server, newUser());
    await refusesReuse(userId, request, make(other.userId, other.id));
    expect((await getMemory(server, other.id)).version).toBe(1);
  });

  test('after the memory of its response was deleted', async () => {
    const userId = newUser();
    const { id } = bodyOf<SavedMemory>(await sendKeyed(server, saveOf(userId), userId), 201);
    await server.client.delete(id);
    const answer = await sendKeyed(server, saveOf(userId, 'other'), userId);
    expectError(answer, 400, 'idempotency_key_reused');
  });

  test('for all but one of twenty concurrent requests with different bodies', async () => {
    const userId = newUser();
    const saves = Array.from({ length: 20 }, (_, n) => {
      return sendKeyed(server, saveOf(userId, `body ${n}`), userId);
    });
    const [created, ...refused] = (await Promise.all(saves)).sort((a, b) => a.status - b.status);
    expect(created).toMatchObject({ status: 201 });
    for (const answer of refused) expectError(answer, 400, 'idempotency_key_reused');
    expect(await completeMemories(server, userId)).toHaveLength(1);
  });
});

describe('an error does not use up its key', () => {
  test.each(writesWithBody)('400 or 415, before and after a success: %s', async (_, make) => {
    const { userId, request } = await prepare(server, make);
    const { path, body } = request;
    const expectErrors = async () => {
      const before = await completeMemories(server, userId);
      const field = await sendKeyed(server, { ...request, body: { ...body, nope: 1 } }, userId);
      expectInvalid(field, 'nope');
      expect(markOf(field)).toBeNull();
      const query = await sendKeyed(server, { ...request, path: `${path}?nope=1` }, userId);
      expectInvalid(query, 'nope');
      const text = await sendKeyed(server, request, userId, { 'content-type': 'text/plain' });
      expectError(text, 415, 'unsupported_media_type');
      expect(await completeMemories(server, userId)).toEqual(before);
    };
    await expectErrors();
    const answer = await sendKeyed(server, request, userId);
    expect([markOf(answer), answer.status < 300]).toEqual(['created', true]);
    await expectErrors();
    expect(markOf(await sendKeyed(server, request, userId))).toBe('replayed');
  });

  test.each(writes.slice(-2))('404, then the correct id: %s', async (_, make) => {
    const { userId, request } = await prepare(server, make);
    const missing = make(userId, 'mem_nope');
    for (let n = 0; n < 2; n += 1) {
      expectError(await sendKeyed(server, missing, userId), 404, 'not_found');
    }
    expect(markOf(await sendKeyed(server, request, userId))).toBe('created');
  });

  test('401, then a valid API key', async () => {
    const userId = newUser();
    const request = saveOf(userId);
    const wrong = { authorization: 'Bearer mk_wrong_key_wrong_key' };
    expectError(await sendKeyed(server, request, userId, wrong), 401, 'unauthorized');
    expect(markOf(await sendKeyed(server, request, userId))).toBe('created');
  });
});

test.each([
  ['text that is not valid Unicode', '\\ufffd', '\\ud800'],
  ['a lone surrogate', '\\ud800', '\\ud801'],
])('returns 400 for another batch that differs only in %s', async (_, one, other) => {
  const key = { 'idempotency-key': newUser() };
  const send = (name: string) => {
    const item = `{"userId":"u","type":"event","data":{"name":"${name}"}}`;
    return askRaw(server, 'POST', '/v1/ingest/batch', `{"items":[${item}]}`, key);
  };
  expect((await send(one)).status).toBe(202);
  expectError(await send(other), 400, 'idempotency_key_reused');
});

const messages = [{ role: 'user', content: 'x' }];
const items = ['a', 'b'].map((name) => ({ type: 'event', userId: 'u', data: { name } }));
const post = (path: string, body: object) => ({ method: 'POST', path, body });
const batch = (items: object[]) => post('/v1/ingest/batch', { items });
const withMetadata = (metadata: object) => saveOf('u', 'x', { metadata });
const text = (begin: string) => saveOf('u', begin + ' of a long text'.repeat(2_000));

test.each<[difference: string, one: WriteRequest, other: WriteRequest]>([
  ['where a list begins', withMetadata({ x: [1, [2]] }), withMetadata({ x: [[1, 2]] })],
  ['where a list ends', withMetadata({ x: [[1], 2] }), withMetadata({ x: [[1, 2]] })],
  ['where an object begins', withMetadata({ x: [{ a: 1 }] }), withMetadata({ x: ['a', 1, {}] })],
  ['the name of a key', withMetadata({ a: 1 }), withMetadata({ b: 1 })],
  ['where a key ends', withMetadata({ ab: 'c' }), withMetadata({ a: 'bc' })],
  ['an object', withMetadata({ a: { b: 1 }, c: 2 }), withMetadata({ a: { b: 1, c: 2 } })],
  ['the words of a long text', text('one'), text('two')],
  ['a field that is left out', withMetadata({}), saveOf('u')],
  ['null and nothing', withMetadata({ k: null }), withMetadata({})],
  ['a number and its text', withMetadata({ k: 1 }), withMetadata({ k: '1' })],
  ['the order of items', batch(items), batch(items.toReversed())],
  ['an invalid item', batch([...items, { bad: 'one' }]), batch([...items, { bad: 'two' }])],
  [
    'the endpoint, of which both accept the type',
    post('/v1/ingest/chat', { userId: 'u', data: { messages } }),
    post('/v1/ingest', { userId: 'u', data: { messages }, type: 'conversation' }),
  ],
])('a used key is rejected for a request that differs only in %s', async (_, one, other) => {
  await refusesReuse(newUser(), one, other);
});
