import { describe, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import { documented, resolve } from '../support/document.ts';
import { ask, bodyOf, expectError, getMemory, getPage, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { until } from '../support/until.ts';
import { sendKeyed } from '../support/writes.ts';

const server = await withProject();

/** Creates a memory, updates it to version 2, and returns its id. */
async function changed(): Promise<string> {
  const { id } = await save(server, newUser(), 'one');
  await ask(server, 'PATCH', `/v1/memories/${id}`, { body: { content: 'two' } });
  return id;
}

function patch(id: string, body: object, ifMatch?: string) {
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch };
  return ask(server, 'PATCH', `/v1/memories/${id}`, { body, headers });
}

function remove(id: string, ifMatch: string) {
  return ask(server, 'DELETE', `/v1/memories/${id}`, { headers: { 'if-match': ifMatch } });
}

test('every change increments the version, returns its ETag, and keeps what is not sent', async () => {
  const { memoryId: id, ...saved } = await save(server, newUser());
  let before: Memory = saved;
  const changes = [
    { metadata: { a: 1 } },
    { content: 'x' },
    { occurredAt: '2026-05-08T00:00:00.000Z' },
  ];
  for (const body of changes) {
    await until(() => Date.now() > Date.parse(before.updatedAt));
    const answer = await patch(id, body);
    const memory = bodyOf<Memory>(answer, 200);
    const { updatedAt } = memory;
    expect<object>(memory).toEqual({ ...before, ...body, version: before.version + 1, updatedAt });
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect(answer.headers.get('etag')).toBe(`"${memory.version}"`);
    before = memory;
  }
  const answer = await ask(server, 'GET', `/v1/memories/${id}`);
  expect(answer).toMatchObject({ status: 200, body: before });
  expect(answer.headers.get('etag')).toBe('"4"');
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
    expect((await remove(await changed(), ifMatch)).status).toBe(204);
  });

  const stale = ['"1"', '"3"', 'W/"1"', '"999999999999999"'];
  const malformed = ['2', '"0"', '"x"', 'w/"2"', '"1", "2"', '"2', '', '"-2"', '"2.0"'];
  test.each([...stale, ...malformed])('%p is rejected, and nothing changes', async (tag) => {
    const id = await changed();
    const before = await getMemory(server, id);
    expectError(await patch('mem_none', { content: 'x' }, tag), 404, 'not_found');
    expectError(await remove('mem_none', tag), 404, 'not_found');
    for (const answer of [await patch(id, { content: 'x' }, tag), await remove(id, tag)]) {
      if (stale.includes(tag)) expectError(answer, 412, 'precondition_failed');
      else expectError(answer, 400, 'invalid_request', 'If-Match');
    }
    expect(await getMemory(server, id)).toEqual(before);
  });

  test('is part of the request that an idempotency key identifies', async () => {
    const id = await changed();
    const key = crypto.randomUUID();
    const request = { method: 'PATCH', path: `/v1/memories/${id}`, body: { content: 'x' } };
    // A rejected request does not use its key up.
    const stale = await sendKeyed(server, request, key, { 'if-match': '"1"' });
    const first = await sendKeyed(server, request, key, { 'if-match': '"2"' });
    // The retry gets the first response, although the version has changed since.
    const retry = await sendKeyed(server, request, key, { 'if-match': '"2"' });
    const statuses = [stale.status, first.status, retry.status];
    expect([...statuses, retry.text]).toEqual([412, 200, 200, first.text]);
    expect(retry.headers.get('etag')).toBe('"3"');
    const other = await sendKeyed(server, request, key, { 'if-match': '"3"' });
    expectError(other, 400, 'idempotency_key_reused');
  });
});

describe('If-Match of a save', () => {
  const send = (body: object, ifMatch: string) =>
    ask(server, 'POST', '/v1/memories', { body, headers: { 'if-match': ifMatch } });

  /** Saves a memory with an external id, and returns its id and fields. */
  async function saved() {
    const fields = { userId: newUser(), source: 's', externalId: 'e', content: 'one' };
    const { id } = await server.client.save(fields);
    return { id, fields };
  }

  test.each(['"1"', 'W/"1"', '*'])('%s replaces the memory at version 1', async (ifMatch) => {
    const { id, fields } = await saved();
    const before = await getMemory(server, id);
    for (const content of ['one', 'two']) {
      const answer = await send({ ...fields, content }, '"2"');
      expectError(answer, 412, 'precondition_failed');
    }
    expectError(await send(fields, '1'), 400, 'invalid_request', 'If-Match');
    expect(await getMemory(server, id)).toEqual(before);
    const replaced = bodyOf<Memory>(await send({ ...fields, content: 'two' }, ifMatch), 200);
    expect(replaced).toMatchObject({ id, content: 'two', version: 2 });
  });

  test.each(['"1"', '*'])('%s returns 412 and stores nothing without a memory', async (ifMatch) => {
    const userId = newUser();
    for (const more of [{}, { externalId: 'e' }]) {
      const answer = await send({ userId, content: 'one', ...more }, ifMatch);
      expectError(answer, 412, 'precondition_failed');
    }
    const expired = { userId, externalId: 'e', content: 'old', expiresAt: '2020-01-01' };
    bodyOf(await ask(server, 'POST', '/v1/memories', { body: expired }), 201);
    expectError(await send({ ...expired, expiresAt: null }, ifMatch), 412, 'precondition_failed');
    expect((await getPage(server, userId)).items).toEqual([]);
  });

  test('lets exactly one of several concurrent saves replace the memory', async () => {
    const { fields } = await saved();
    const saves = Array.from({ length: 8 }, (_, n) => send({ ...fields, content: `${n}` }, '"1"'));
    const statuses = (await Promise.all(saves)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array<number>(7).fill(412)]);
  });
});

test('writes reject the conditions that they do not check, and change nothing', async () => {
  const fields = { userId: newUser(), source: 's', externalId: 'e' };
  const { id } = await server.client.save({ ...fields, content: 'one' });
  const before = await getMemory(server, id);
  const record = { ...fields, type: 'document', data: { text: 'two' } };
  const { type: _, ...document } = record;
  const requests: [string, string, object?][] = [
    ['POST', '/v1/ingest', record],
    ['POST', '/v1/ingest/document', document],
    ['POST', '/v1/ingest/batch', { items: [record] }],
    ['POST', '/v1/import', { items: [{ ...before, id: 'mem_another' }] }],
    ['DELETE', `/v1/memories?userId=${fields.userId}`],
  ];
  for (const [method, path, body] of requests) {
    const answer = await ask(server, method, path, { body, headers: { 'if-match': '"1"' } });
    expectError(answer, 400, 'invalid_request', 'If-Match');
  }
  requests.push(
    ['POST', '/v1/memories', { ...fields, content: 'two' }],
    ['PATCH', `/v1/memories/${id}`, { content: 'two' }],
    ['DELETE', `/v1/memories/${id}`],
  );
  for (const [method, path, body] of requests) {
    const answer = await ask(server, method, path, { body, headers: { 'if-none-match': '*' } });
    expectError(answer, 400, 'invalid_request', 'If-None-Match');
  }
  expect((await getPage(server, fields.userId)).items).toEqual([before]);
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
    expectError(await get('mem_none', tag), 404, 'not_found');
  });

  test.each(['2', '"2', '"2",'])('%p is malformed: 400', async (tag) => {
    expectError(await get(await changed(), tag), 400, 'invalid_request', 'If-None-Match');
  });
});

describe('PATCH', () => {
  test('with only metadata works on memories with content of any length', async () => {
    const text = 'long '.repeat(100_000);
    const record = { userId: newUser(), data: { text, title: 'Long' } };
    const { memoryId } = await server.client.ingest.document(record);
    const memory = bodyOf<Memory>(await patch(memoryId, { metadata: { a: 1 } }), 200);
    expect(memory).toMatchObject({ metadata: { a: 1 }, status: 'complete', version: 2 });
    expect(memory.content).toBe(text);
  });
});
