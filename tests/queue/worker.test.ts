import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../server/errors.ts';
import { createLogger, type LogEntry } from '../../server/log.ts';
import { indexPassages, splitPassages } from '../../server/memory/passages.ts';
import { startWorker, type Worker, type WorkerOptions } from '../../server/queue/worker.ts';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { accept, projectId, record } from '../storage/fixtures.ts';
import { until } from '../support/until.ts';

let folder: string;
let storage: Storage;
let worker: Worker | undefined;
let logged: LogEntry[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-worker-'));
  storage = openSqlite(join(folder, 'memory.db'), { exclusive: true });
  logged = [];
});

afterEach(async () => {
  await worker?.stop();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(options: Partial<WorkerOptions> = {}): void {
  const log = createLogger('debug', (entry) => logged.push(entry));
  // No jitter: what failed is due again at once.
  const defaults = { storage, now: Date.now, log, index: indexPassages, random: () => 0 };
  worker = startWorker({ ...defaults, ...options });
}

async function acceptTexts(...texts: string[]): Promise<string[]> {
  const records = texts.map((content) => record({ content }));
  await accept(storage, records, { at: Date.now() });
  worker?.wake();
  return records.map(({ id }) => id);
}

function ended(id: string) {
  return until(async () => {
    const status = await storage.getStatus(projectId, id);
    return status?.status === 'processing' ? null : status;
  });
}

test('what is accepted is cut, stored and complete, long texts in several steps', async () => {
  start();
  const long = 'A sentence of some length, to be cut. '.repeat(40_000);
  const [short, large] = await acceptTexts('short', long);
  expect(await ended(short ?? '')).toMatchObject({ chunksComplete: 1, chunksTotal: 1 });
  const total = splitPassages(long).length;
  expect(total).toBeGreaterThan(1_000);
  expect(await ended(large ?? '')).toMatchObject({ chunksComplete: total, chunksTotal: total });
});

test('what waited before the start is done, and what was claimed by a crashed process', async () => {
  const ids = await acceptTexts('one', 'two');
  await storage.claimJobs({ now: Date.now(), horizon: Date.now() + 60_000, limit: 1 });
  start();
  const statuses = await Promise.all(ids.map(ended));
  expect(statuses.map(({ status }) => status)).toEqual(['complete', 'complete']);
  expect(statuses.map(({ attempts }) => attempts)).toEqual([2, 1]);
});

test('a poison record fails after its attempts, and its neighbours do not', async () => {
  start({
    index(content, metadata) {
      if (content === 'poison') throw new Error('cannot be split');
      return indexPassages(content, metadata);
    },
  });
  const [one, poison, two] = await acceptTexts('one', 'poison', 'two');
  expect(await ended(poison ?? '')).toMatchObject({
    status: 'failed',
    attempts: 5,
    errorMessage: 'processing failed on attempt 5 of 5',
  });
  expect((await ended(one ?? '')).status).toBe('complete');
  expect((await ended(two ?? '')).status).toBe('complete');
  expect(logged.filter(({ fields }) => fields.memoryId === poison).length).toBe(5);
});

test('a database that is away for a while costs no attempt and ends nothing', async () => {
  let away = 3;
  const flaky: Storage = {
    ...storage,
    async storePassages(steps) {
      away -= 1;
      if (away >= 0) throw new ServiceError('unavailable', 'the disk is full');
      return storage.storePassages(steps);
    },
  };
  start({ storage: flaky });
  const [id] = await acceptTexts('text');
  expect(await ended(id ?? '')).toMatchObject({ status: 'complete', attempts: 1 });
});

test('what the database cannot store for a reason of the record ends as failed', async () => {
  const refusing: Storage = {
    ...storage,
    async storePassages() {
      throw new Error('too big');
    },
  };
  start({ storage: refusing });
  const [id] = await acceptTexts('text');
  expect(await ended(id ?? '')).toMatchObject({ status: 'failed', attempts: 5 });
});

test('faults of the database in the middle of a long batch lose and fail nothing', async () => {
  let calls = 0;
  const flaky: Storage = {
    ...storage,
    async storePassages(steps) {
      calls += 1;
      const faulty = steps.length > 20 || calls % 7 === 0;
      if (faulty) throw new ServiceError('internal', 'the disk met a fault');
      return storage.storePassages(steps);
    },
  };
  start({
    storage: flaky,
    index(content, metadata) {
      Bun.sleepSync(2);
      return indexPassages(content, metadata);
    },
  });
  const ids = await acceptTexts(...Array.from({ length: 40 }, (_, index) => `text ${index}`));
  const statuses = await Promise.all(ids.map(ended));
  expect(statuses.map(({ status }) => status)).toEqual(ids.map(() => 'complete'));
  expect(statuses.map(({ attempts }) => attempts)).toEqual(ids.map(() => 1));
});

test('a clock that is set back holds nothing up', async () => {
  let offsetMs = 0;
  start({ now: () => Date.now() + offsetMs });
  await worker?.stop();
  await acceptTexts('accepted an hour from now');
  offsetMs = -3_600_000;
  start({ now: () => Date.now() + offsetMs });
  const [id] = await acceptTexts('accepted now');
  await ended(id ?? '');
  expect((await storage.queueState()).pending).toBe(0);
});

test('an exception in the queue itself is logged, and the loop goes on', async () => {
  let broken = true;
  const flaky: Storage = {
    ...storage,
    async claimJobs(claim) {
      if (!broken) return storage.claimJobs(claim);
      broken = false;
      throw new Error('broken');
    },
  };
  start({ storage: flaky });
  const [id] = await acceptTexts('text');
  expect((await ended(id ?? '')).status).toBe('complete');
  expect(logged.some(({ level }) => level === 'error')).toBe(true);
});

test('stop() finishes the job in hand and gives the others back', async () => {
  let stopped: Promise<void> | undefined;
  start({
    index(content, metadata) {
      stopped ??= worker?.stop();
      return indexPassages(content, metadata);
    },
  });
  const ids = await acceptTexts(...Array.from({ length: 20 }, (_, index) => `text ${index}`));
  await until(() => stopped !== undefined);
  await stopped;
  const statuses = await Promise.all(ids.map((id) => storage.getStatus(projectId, id)));
  const left = statuses.filter((status) => status?.status === 'processing');
  expect(left.length).toBeGreaterThan(0);
  expect(left.every((status) => status?.attempts === 0)).toBe(true);
  expect(await storage.recoverJobs({ countAttempt: true })).toBe(0);
});
