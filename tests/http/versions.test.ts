import { describe, expect, test } from 'bun:test';
import type { Memory, SavedMemory } from '../../sdk/contract/memory.ts';
import { documented, resolve } from '../support/document.ts';
import {
  type Answer,
  ask,
  bodyOf,
  expectError,
  getMemory,
  newUser,
  save,
} from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { sendKeyed } from '../support/writes.ts';

/* Conditional requests with versions and ETags, which prevent lost updates. */

const server = await withProject();

/** Creates a memory, updates it to version 2, and returns its id. */
async function changed(): Promise<string> {
  const { id } = await save(server, newUser(), 'one');
  await ask(server, 'PATCH', `/v1/memories/${id}`, { body: { content: 'two' } });
  return id;
}

function patch(id: string, body: object, ifMatch?: string): Promise<Answer> {
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch };
  return ask(server, 'PATCH', `/v1/memories/${id}`, { body, headers });
}

function remove(id: string, ifMatch: string): Promise<Answer> {
  return ask(server, 'DELETE', `/v1/memories/${id}`, { headers: { 'if-match': ifMatch } });
}

test('every change increments the version and returns its ETag', async () => {
  const { id } = await save(server, newUser());
  const changes = [{ content: 'x' }, { metadata: { a: 1 } }, { occurredAt: '2026-05-08' }];
  for (const [index, body] of changes.entries()) {
    const answer = await patch(id, body);
    const version = index + 2;
    expect(bodyOf<Memory>(answer, 200).version).toBe(version);
    expect(answer.headers.get('etag')).toBe(`"${version}"`);
  }
  const answer = await ask(server, 'GET', `/v1/memories/${id}`);
  expect(answer.headers.get('etag')).toBe('"4"');
});

test('a change to the same values keeps version, ETag and updatedAt', async () => {
  const fields = {
    content: 'x',
    metadata: { a: 1, b: { c: [1], d: null } },
    occurredAt: '2026-05-08',
  };
  const body = { userId: newUser(), externalId: 'e', ...fields };
  const save = (more = {}) => ask(server, 'POST', '/v1/memories', { body: { ...body, ...more } });
  const { id } = bodyOf<SavedMemory>(await save(), 201);
  const before = await getMemory(server, id);
  const metadata = { b: { d: null, c: [1] }, a: 1.0 };
  for (const answer of [
    await save(),
    await save({ metadata, occurredAt: '2026-05-08T02:00:00+02:00' }),
    await patch(id, fields, '"1"'),
    await patch(id, { metadata }, '"1"'),
    await patch(id, { expiresAt: null }, '"1"'),
  ]) {
    expect(bodyOf<Memory>(answer, 200)).toMatchObject(before);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(await getMemory(server, id)).toEqual(before);
  }
  expectError(await patch(id, fields, '"2"'), 412, 'precondition_failed');
  // A save that omits a time clears it.
  expect(bodyOf<Memory>(await save({ occurredAt: null }), 200).version).toBe(2);
});

test('conditions are documented for the requests on one memory', () => {
  const conditional = documented.map(({ operationId, parameters = [] }) => {
    const names = parameters.map(resolve).map(({ name }) => name);
    return [operationId, names.filter((name) => /^If-/.test(name))];
  });
  expect(conditional.filter(([, names]) => names?.length)).toEqual([
    ['saveMemory', ['If-Match']],
    ['getMemory', ['If-None-Match']],
    ['updateMemory', ['If-Match']],
    ['deleteMemory', ['If-Match']],
  ]);
});

describe('If-Match', () => {
  test.each(['"2"', '*', ' "2" ', 'W/"2"'])('%s allows a change and a delete', async (ifMatch) => {
    const id = await changed();
    expect(bodyOf<Memory>(await patch(id, { content: 'x' }, ifMatch), 200).version).toBe(3);
    const other = await changed();
    expect((await remove(other, ifMatch)).status).toBe(204);
  });

  test.each(['"1"', '"3"', 'W/"1"', '"999999999999999"'])(
    '%s returns 412 and changes nothing',
    async (tag) => {
      const id = await changed();
      const before = await getMemory(server, id);
      expectError(await patch(id, { content: 'x' }, tag), 412, 'precondition_failed');
      expectError(await remove(id, tag), 412, 'precondition_failed');
      expect(await getMemory(server, id)).toEqual(before);
    },
  );

  test.each(['2', '"0"', '"x"', 'w/"2"', '"1", "2"', '"2', '', '"-2"', '"2.0"'])(
    '%p is malformed: 400, and nothing changes',
    async (ifMatch) => {
      const id = await changed();
      const before = await getMemory(server, id);
      for (const answer of [
        await patch(id, { content: 'x' }, ifMatch),
        await remove(id, ifMatch),
      ]) {
        expectError(answer, 400, 'invalid_request', 'If-Match');
      }
      expect(await getMemory(server, id)).toEqual(before);
    },
  );

  test('applies to a save that replaces a memory, and to no other save', async () => {
    const fields = { userId: 'u', source: 'crm', externalId: crypto.randomUUID() };
    const save = (content: string, tag: string, key: string = crypto.randomUUID()) => {
      const request = { method: 'POST', path: '/v1/memories', body: { ...fields, content } };
      return sendKeyed(server, request, key, { 'if-match': tag });
    };
    const key = crypto.randomUUID();
    expectError(await save('early', '"1"', key), 412, 'precondition_failed');
    // The rejected save has not used up its key, and `*` asks for no version.
    const { id } = bodyOf<Memory>(await save('first', '*', key), 201);
    const second = await save('second', '"1"', 'second');
    expect(bodyOf<Memory>(second, 200)).toMatchObject({ id, version: 2, content: 'second' });
    expectError(await save('third', '"1"'), 412, 'precondition_failed');
    expectError(await save('third', 'x'), 400, 'invalid_request', 'If-Match');
    expect(await getMemory(server, id)).toMatchObject({ version: 2, content: 'second' });
    expect((await save('second', '"1"', 'second')).text).toBe(second.text);
    const request = { headers: { 'if-match': '"1"' }, body: { userId: 'u', content: 'x' } };
    expectError(await ask(server, 'POST', '/v1/memories', request), 412, 'precondition_failed');
  });

  test('returns 404 for an unknown memory, with any value', async () => {
    for (const ifMatch of ['"1"', '*', 'x']) {
      expectError(await patch('mem_none', { content: 'x' }, ifMatch), 404, 'not_found');
      expectError(await remove('mem_none', ifMatch), 404, 'not_found');
    }
  });

  test('is part of the request that an idempotency key identifies', async () => {
    const id = await changed();
    const key = crypto.randomUUID();
    const request = { method: 'PATCH', path: `/v1/memories/${id}`, body: { content: 'x' } };
    const first = await sendKeyed(server, request, key, { 'if-match': '"2"' });
    // The retry gets the first response, although the version has changed since.
    const retry = await sendKeyed(server, request, key, { 'if-match': '"2"' });
    expect([first.status, retry.status, retry.text]).toEqual([200, 200, first.text]);
    expect(retry.headers.get('etag')).toBe('"3"');
    const other = await sendKeyed(server, request, key, { 'if-match': '"3"' });
    expectError(other, 400, 'idempotency_key_reused');
  });
});

describe('If-None-Match', () => {
  const get = (id: string, ifNoneMatch: string) =>
    ask(server, 'GET', `/v1/memories/${id}`, { headers: { 'if-none-match': ifNoneMatch } });

  test.each(['"2"', 'W/"2"', '"1", "2"', '"x","2"', '*'])('%s returns 304', async (tag) => {
    const answer = await get(await changed(), tag);
    expect(answer).toMatchObject({ status: 304, text: '' });
    expect(answer.headers.get('etag')).toBe('"2"');
  });

  test.each(['"1"', '"3"', '""', '"x", W/"1"'])('%s returns the memory', async (tag) => {
    expect(bodyOf<Memory>(await get(await changed(), tag), 200).version).toBe(2);
  });

  test.each(['2', '"2', '"2",'])('%p is malformed: 400', async (tag) => {
    expectError(await get(await changed(), tag), 400, 'invalid_request', 'If-None-Match');
  });

  test('returns 404 for an unknown memory', async () => {
    expectError(await get('mem_none', '*'), 404, 'not_found');
  });
});

describe('PATCH', () => {
  test('with only metadata works on memories with content of any length', async () => {
    const text = 'long '.repeat(100_000);
    const { memoryId } = await server.client.ingest.document({
      userId: newUser(),
      data: { text, title: 'Long' },
    });
    const memory = bodyOf<Memory>(await patch(memoryId, { metadata: { a: 1 } }), 200);
    expect(memory).toMatchObject({ metadata: { a: 1 }, status: 'complete', version: 2 });
    expect(memory.content).toBe(text);
  });

  test('sets the given times, keeps omitted ones, and clears them with null', async () => {
    const { id } = await save(server, newUser(), 'kept');
    const given = { occurredAt: '2026-05-08T10:00:00+02:00', expiresAt: '2096-01-01' };
    const set = bodyOf<Memory>(await patch(id, given), 200);
    const times = { occurredAt: '2026-05-08T08:00:00.000Z', expiresAt: '2096-01-01T00:00:00.000Z' };
    expect(set).toMatchObject({ content: 'kept', ...times });
    expect(bodyOf<Memory>(await patch(id, { content: 'new' }), 200)).toMatchObject(times);
    const cleared = await patch(id, { occurredAt: null, expiresAt: null });
    expect(bodyOf<Memory>(cleared, 200)).toMatchObject({ occurredAt: null, expiresAt: null });
  });
});
