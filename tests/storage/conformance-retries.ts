import { expect, test } from 'bun:test';
import { claim, claimOne } from './fixtures.ts';
import { externalKey, fail, opened, project } from './suite.ts';

/** Tests the state of a record after a retry, and after it is ingested again. */
export function testRetries(): void {
  test('a record whose retry succeeds has no error message', async () => {
    const id = await project.acceptOne();
    await fail(await claimOne(opened.storage), 2_500);
    const task = await claimOne(opened.storage, { now: 2_500 });
    await opened.storage.completeTasks([{ ...task, now: 3_000, chunks: 1 }]);
    const done = { status: 'complete', attempts: 2, errorMessage: null };
    expect(await project.status(id)).toMatchObject(done);
  });

  test('a complete record that is ingested again is pending and has no chunks', async () => {
    const id = await project.acceptOne(externalKey, 10);
    const task = await claimOne(opened.storage);
    await opened.storage.completeTasks([{ ...task, now: 3_000, chunks: 2 }]);
    await project.acceptOne({ ...externalKey, content: 'newer' }, 5_000);
    const waiting = { status: 'processing', chunksComplete: 0, chunksTotal: 0 };
    expect(await project.status(id)).toMatchObject(waiting);
    const state = { pending: 1, running: 0, oldestAcceptedAt: 5_000 };
    expect(await opened.storage.taskQueueState()).toMatchObject(state);
  });

  test('updatedAt of a record never decreases, even if the clock is set back', async () => {
    const id = await project.acceptOne(externalKey);
    const updatedAt = async () => (await project.status(id))?.updatedAt;
    const next = () => claimOne(opened.storage, { now: 9_000 });
    await fail(await next(), 9_000, 9_000);
    await fail(await next(), 9_000, 3_000);
    expect(await updatedAt()).toBe(9_000);
    await opened.storage.completeTasks([{ ...(await next()), now: 4_000, chunks: 1 }]);
    expect(await updatedAt()).toBe(9_000);
    await project.acceptOne({ ...externalKey, content: 'newer' }, 5_000);
    expect(await updatedAt()).toBe(9_000);
    await project.update(id, { content: 'x' }, { at: 6_000 });
    expect(await updatedAt()).toBe(9_000);
  });

  test('a failed task is due exactly at its retry time', async () => {
    const id = await project.acceptOne({}, 10);
    await fail(await claimOne(opened.storage, { now: 20 }), 100, 20);
    const due = await claim(opened.storage, { now: 100 });
    expect(due.map(({ memoryId }) => memoryId)).toEqual([id]);
  });

  test('a task whose retry time is exactly the horizon is not due yet', async () => {
    await project.acceptOne({}, 10);
    await fail(await claimOne(opened.storage, { now: 20 }), 60_100, 20);
    // The horizon is 60 seconds after `now`.
    expect(await claim(opened.storage, { now: 100 })).toEqual([]);
    // A retry time beyond the horizon is due, because the clock must have been set back.
    expect(await claim(opened.storage, { now: 99 })).toHaveLength(1);
  });
}
