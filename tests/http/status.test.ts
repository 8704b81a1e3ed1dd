import { expect, test } from 'bun:test';
import type { IngestStatuses } from '../../sdk/contract/status.ts';
import {
  ask,
  bodyOf,
  expectInvalid,
  getMemory,
  getStatus,
  newUser,
  save,
} from '../support/http.ts';
import { leaseRecord } from '../support/queue.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

test('shows the chunks of a saved memory, and the attempts and the error of a record', async () => {
  const saved = await save(server, newUser());
  const running = await leaseRecord(server);
  const failed = await leaseRecord(server);
  await failed.fail('no luck');
  const none = { chunksComplete: 0, chunksTotal: 0, attempts: 1, errorMessage: null };
  for (const [memoryId, shown] of [
    [saved.id, { status: 'complete', ...none, chunksComplete: 1, chunksTotal: 1, attempts: 0 }],
    [running.memoryId, { status: 'processing', ...none }],
    [failed.memoryId, { status: 'failed', ...none, errorMessage: 'no luck' }],
  ] as const) {
    const { status, createdAt, updatedAt } = await getMemory(server, memoryId);
    const expected = { memoryId, ...shown, createdAt, updatedAt };
    expect(await getStatus(server, memoryId)).toEqual(expected);
    expect(status).toBe(shown.status);
  }
});

test('counts the chunks of a document that is saved, ingested or updated', async () => {
  const { client } = server;
  const userId = newUser();
  const text = Array(3).fill('x'.repeat(499)).join(' ');
  const metadata = { title: 'Rooms' };
  const saved = await client.save({ userId, content: text, metadata });
  const { memoryId } = await client.ingest.document({ userId, data: { text, ...metadata } });
  await client.waitUntilComplete(memoryId);
  const counts = () =>
    Promise.all([saved.id, memoryId].map(async (id) => (await client.status(id)).chunksTotal));
  expect(await counts()).toEqual([3, 3]);
  // Without a title, the text is no document.
  for (const id of [saved.id, memoryId]) await client.update(id, { metadata: {} });
  expect(await counts()).toEqual([2, 2]);
});

test('counts the chunks of a long saved memory like those of a document', async () => {
  const { client } = server;
  const userId = newUser();
  const text = '北京 '.repeat(15_000);
  const saved = await client.save({ userId, content: text });
  const { memoryId } = await client.ingest.document({ userId, data: { text } });
  await client.waitUntilComplete(memoryId);
  const { chunksComplete, chunksTotal } = await client.status(memoryId);
  expect(chunksTotal).toBeGreaterThan(40);
  expect(await client.status(saved.id)).toMatchObject({ chunksComplete, chunksTotal });
});

const post = (body: object, path = '/v1/memories/status') => ask(server, 'POST', path, { body });

test('the statuses of many memories are in request order, and unknown ids are listed', async () => {
  const userId = newUser();
  const [one, two] = [await save(server, userId), await save(server, userId)];
  const unknown = Array.from({ length: 997 }, (_, index) => `mem_${index}`);
  const memoryIds = [two.id, ...unknown, one.id, two.id];
  const { items, notFound } = bodyOf<IngestStatuses>(await post({ memoryIds }), 200);
  expect(notFound).toEqual(unknown);
  const status = await getStatus(server, two.id);
  expect(items).toEqual([status, await getStatus(server, one.id), status]);
  expectInvalid(await post({ memoryIds: [...memoryIds, 'x'] }), 'memoryIds');
});

test('invalid ids, unknown fields and unknown parameters get a 400', async () => {
  for (const memoryIds of [undefined, [], 'mem_1', null]) {
    expectInvalid(await post({ memoryIds }), 'memoryIds');
  }
  for (const id of [1, '', null, 'x'.repeat(257), 'a\0b']) {
    expectInvalid(await post({ memoryIds: ['mem_1', id] }), 'memoryIds.1');
  }
  expectInvalid(await post({ memoryIds: ['x'], userId: 'u' }), 'userId');
  expectInvalid(await post({ memoryIds: ['x'] }, '/v1/memories/status?a=1'), 'a');
});
