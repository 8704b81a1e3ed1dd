import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Job, Storage } from '../../server/storage/storage.ts';
import type { Opened } from './exercise.ts';
import {
  accept,
  list,
  memory,
  passagesOf,
  processNext,
  projectId,
  record,
  remove,
  save,
  storeStep,
  update,
} from './fixtures.ts';

const one = [{ start: 0, length: 5, folded: 'hello' }];

/** The queue's promises: order, leases, attempts, recovery. */
export function exerciseQueue(name: string, open: () => Promise<Opened>): void {
  describe(`${name}: queue`, () => {
    let opened: Opened;
    let storage: Storage;
    beforeEach(async () => {
      opened = await open();
      storage = opened.storage;
    });
    afterEach(() => opened.dispose());

    async function acceptOne(fields: Parameters<typeof record>[0] = {}, at = 1_000) {
      const given = record(fields);
      const { answer } = await accept(storage, [given], { at });
      return (JSON.parse(answer.body) as string[])[0] ?? '';
    }

    const status = (id: string) => storage.getStatus(projectId, id);

    async function claim(now = 2_000) {
      const [job] = await storage.claimJobs({ now, horizon: now + 60_000, limit: 1 });
      if (job === undefined) throw new Error('no job is due');
      return job;
    }

    test('an accepted record has a status at once, and is complete with its last passage', async () => {
      const id = await acceptOne();
      expect(await status(id)).toMatchObject({ status: 'processing', chunksTotal: 0, attempts: 0 });
      const job = await claim();
      const half = { ...job, now: 3_000, passages: one, total: 2 };
      expect(await storeStep(storage, { ...half, first: 0 })).toBe(true);
      const midway = { status: 'processing', chunksComplete: 1, chunksTotal: 2, attempts: 1 };
      expect(await status(id)).toMatchObject(midway);
      expect(await storeStep(storage, { ...half, first: 1 })).toBe(true);
      const done = { status: 'complete', chunksComplete: 2, chunksTotal: 2, attempts: 1 };
      expect(await status(id)).toMatchObject({ ...done, updatedAt: 3_000 });
      expect(await storage.claimJobs({ now: 9_000, horizon: 9_000 + 60_000, limit: 9 })).toEqual(
        [],
      );
    });

    test('a saved memory counts its passages', async () => {
      const given = memory({ passages: [...one, { start: 5, length: 5, folded: '' }] });
      await save(storage, given);
      expect(await status(given.id)).toMatchObject({ status: 'complete', chunksTotal: 2 });
    });

    test('jobs are claimed longest due first, each by one claimer', async () => {
      const ids = [await acceptOne({}, 30), await acceptOne({}, 10), await acceptOne({}, 20)];
      const claims = await Promise.all([
        storage.claimJobs({ now: 50, horizon: 50 + 60_000, limit: 2 }),
        storage.claimJobs({ now: 50, horizon: 50 + 60_000, limit: 2 }),
      ]);
      const claimed = claims.flat().map(({ memoryId }) => memoryId);
      expect(claimed).toEqual([ids[1] ?? '', ids[2] ?? '', ids[0] ?? '']);
    });

    test('a failed job waits for its time, is claimed alone, and ends as failed', async () => {
      const id = await acceptOne({}, 10);
      const job = await claim(20);
      const failure = { now: 20, errorMessage: 'no luck' };
      await storage.failJob({ ...job, ...failure, retryAt: 100 });
      expect(await status(id)).toMatchObject({ status: 'processing', errorMessage: 'no luck' });
      expect(await storage.nextJobAt()).toBe(100);
      expect(await storage.claimJobs({ now: 99, horizon: 99 + 60_000, limit: 9 })).toEqual([]);
      await acceptOne({}, 100);
      const alone = await storage.claimJobs({ now: 100, horizon: 100 + 60_000, limit: 9 });
      expect(alone.map(({ attempt }) => attempt)).toEqual([2]);
      await storage.failJob({ ...(alone[0] ?? job), ...failure, retryAt: null });
      expect(await status(id)).toMatchObject({ status: 'failed', attempts: 2 });
      expect((await list(storage)).map((m) => m.status)).toContain('failed');
    });

    test('a lease ends when the text changes, the memory goes, or the job is recovered', async () => {
      const origin = { source: 's', externalId: 'e' };
      const endings = [
        (id: string) => acceptOne({ ...origin, id }),
        (id: string) => update(storage, id, 'newer'),
        (id: string) => remove(storage, id),
        async () => {
          await storage.recoverJobs({ countAttempt: true });
          await claim();
        },
      ];
      for (const end of endings) {
        const id = await acceptOne(origin);
        const job = await claim();
        await end(id);
        const late = { ...job, now: 3_000, first: 0, passages: one, total: 1 };
        expect(await storeStep(storage, late)).toBe(false);
        const failure = { now: 3_000, retryAt: null, errorMessage: 'late' };
        expect(await storage.failJob({ ...job, ...failure })).toBe(false);
        expect(await storage.releaseJob(job)).toBe(false);
        while (await processNext(storage, 9_000));
        await storage.recoverJobs({ countAttempt: true });
        while (await processNext(storage, 9_000));
      }
    });

    test('a lease ends with the attempt, however that ends', async () => {
      const step = { now: 3_000, first: 0, passages: one, total: 1 };
      const failure = { now: 3_000, retryAt: null, errorMessage: 'x' };
      const endings: ((job: Job) => Promise<unknown>)[] = [
        (job) => storeStep(storage, { ...job, ...step }),
        (job) => storage.failJob({ ...job, ...failure }),
        (job) => storage.releaseJob(job),
        () => storage.recoverJobs({ countAttempt: true }),
      ];
      for (const end of endings) {
        await acceptOne();
        const job = await claim();
        await end(job);
        expect(await storeStep(storage, { ...job, ...step })).toBe(false);
        expect(await storage.failJob({ ...job, ...failure })).toBe(false);
        expect(await storage.releaseJob(job)).toBe(false);
        while (await processNext(storage, 9_000));
      }
    });

    test('an attempt replaces what an earlier one left, and goes on only where it is', async () => {
      const id = await acceptOne();
      const step = { now: 3_000, first: 0, passages: one, total: 2 };
      const given = await claim();
      expect(await storeStep(storage, { ...given, ...step })).toBe(true);
      await storage.releaseJob(given);
      const job = await claim();
      expect(await storeStep(storage, { ...job, ...step, first: 2 })).toBe(false);
      const other = [{ start: 0, length: 5, folded: 'other' }];
      expect(await storeStep(storage, { ...job, ...step, passages: other })).toBe(true);
      expect(await status(id)).toMatchObject({ status: 'processing', chunksComplete: 1 });
      expect(await storeStep(storage, { ...job, ...step, first: 1 })).toBe(true);
      const stored = await passagesOf(storage, job.userId);
      expect(stored.map(({ folded }) => folded)).toEqual(['other', 'hello']);
    });

    test('an update of a processing or failed memory completes it', async () => {
      const id = await acceptOne();
      await storage.failJob({ ...(await claim()), now: 1, retryAt: null, errorMessage: 'x' });
      await update(storage, id, 'newer', { at: 5_000 });
      const settled = { status: 'complete', errorMessage: null, chunksTotal: 1 };
      expect(await status(id)).toMatchObject({ ...settled, chunksComplete: 1 });
      expect(await storage.claimJobs({ now: 9_000, horizon: 9_000 + 60_000, limit: 9 })).toEqual(
        [],
      );
      expect((await storage.queueState()).pending).toBe(0);
    });

    test('the same origin is one memory: new text, old id and time', async () => {
      const origin = { source: 's', externalId: 'e' };
      const id = await acceptOne({ ...origin, content: 'old' }, 10);
      await processNext(storage);
      const again = await acceptOne({ ...origin, content: 'new', type: 'ticket' }, 20);
      expect(again).toBe(id);
      const taken = { content: 'new', type: 'ticket', createdAt: 10, updatedAt: 20 };
      expect(await storage.getMemory(projectId, id)).toMatchObject({
        ...taken,
        status: 'processing',
      });
      expect(await status(id)).toMatchObject({ chunksTotal: 0, attempts: 0 });
      for (const other of [{ source: 's2' }, { source: null }, { userId: 'u2' }]) {
        expect(await acceptOne({ ...origin, ...other })).not.toBe(id);
      }
      await remove(storage, id);
      expect(await acceptOne(origin)).not.toBe(id);
    });

    test('of the same origin twice in one batch the later wins, under one id', async () => {
      const origin = { source: null, externalId: 'e' };
      const pair = [record({ ...origin, content: 'one' }), record({ ...origin, content: 'two' })];
      const ids = JSON.parse((await accept(storage, pair)).answer.body) as string[];
      expect(ids[0]).toBe(ids[1] ?? '');
      expect((await list(storage)).map(({ content }) => content)).toEqual(['two']);
    });

    test('what a crashed process had claimed waits again, its attempt counted', async () => {
      const id = await acceptOne();
      await claim();
      storage = await opened.reopen();
      expect(await storage.claimJobs({ now: 9_000, horizon: 9_000 + 60_000, limit: 9 })).toEqual(
        [],
      );
      expect(await storage.recoverJobs({ countAttempt: true })).toBe(1);
      expect((await claim()).attempt).toBe(2);
      expect(await status(id)).toMatchObject({ attempts: 2 });
    });

    test('a job given back has lost no attempt', async () => {
      await acceptOne();
      await storage.releaseJob(await claim());
      expect((await claim()).attempt).toBe(1);
    });

    test('the state of the queue counts what is pending', async () => {
      expect(await storage.queueState()).toEqual({ pending: 0, oldestAcceptedAt: null });
      await acceptOne({}, 30);
      await acceptOne({}, 20);
      await claim();
      expect(await storage.queueState()).toEqual({ pending: 2, oldestAcceptedAt: 20 });
      expect(await storage.nextJobAt()).toBe(30);
    });
  });
}
