import { expect, test } from 'bun:test';
import type { IngestStatuses } from '../../sdk/contract/status.ts';
import {
  ask,
  bodyOf,
  expectInvalid,
  getMemory,
  getStatus,
  ingest,
  newUser,
  save,
} from '../support/http.ts';
import { leaseRecord } from '../support/queue.ts';
import { withProject } from '../support/server.ts';
import { until } from '../support/until.ts';

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

test('is correct from the acceptance of a record until its completion', async () => {
  const data = { text: 'A sentence of some length. '.repeat(20_000) };
  const record = { userId: newUser(), data };
  const { memoryId } = await ingest(server, '/v1/ingest/document', record);
  let before = 0;
  const done = await until(async () => {
    const status = await getStatus(server, memoryId);
    const { chunksComplete, chunksTotal } = status;
    expect(chunksComplete).toBeWithin(before, chunksTotal + 1);
    before = chunksComplete;
    if (status.status === 'complete') return status;
    expect(status).toMatchObject({ status: 'processing', errorMessage: null });
    return null;
  });
  expect(done).toMatchObject({ memoryId, attempts: 1, errorMessage: null });
  expect(done.chunksTotal).toBeGreaterThan(100);
  expect(done.chunksComplete).toBe(done.chunksTotal);
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
