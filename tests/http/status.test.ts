import { expect, test } from 'bun:test';
import { getMemory, getStatus, ingest, newUser, save } from '../support/http.ts';
import { leaseRecord } from '../support/queue.ts';
import { withProject } from '../support/server.ts';
import { until } from '../support/until.ts';

/* GET /v1/memories/:id/status. */

const server = await withProject();

test('returns 200 for a saved memory: complete, without attempts', async () => {
  const { id, createdAt, updatedAt } = await save(server, newUser());
  expect(await getStatus(server, id)).toEqual({
    memoryId: id,
    status: 'complete',
    chunksComplete: 1,
    chunksTotal: 1,
    attempts: 0,
    errorMessage: null,
    createdAt,
    updatedAt,
  });
});

test('returns 200 for a record whose task is running: processing, without chunks', async () => {
  const { memoryId } = await leaseRecord(server);
  const { createdAt, updatedAt } = await getMemory(server, memoryId);
  expect(await getStatus(server, memoryId)).toEqual({
    memoryId,
    status: 'processing',
    chunksComplete: 0,
    chunksTotal: 0,
    attempts: 1,
    errorMessage: null,
    createdAt,
    updatedAt,
  });
});

test('returns 200 for a record that failed, with the reason', async () => {
  const { memoryId, fail } = await leaseRecord(server);
  await fail('no luck');
  const status = await getStatus(server, memoryId);
  expect(status).toMatchObject({ status: 'failed', attempts: 1, errorMessage: 'no luck' });
  expect(await getMemory(server, memoryId)).toMatchObject({ status: 'failed' });
});

test('is correct from the acceptance of a record until its completion', async () => {
  const text = 'A sentence of some length. '.repeat(20_000);
  const { memoryId } = await ingest(server, '/v1/ingest/document', {
    userId: newUser(),
    data: { text },
  });
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
