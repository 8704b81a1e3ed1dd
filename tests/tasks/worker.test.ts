import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ServiceError } from '../../server/errors.ts';
import { createLogger, type LogEntry } from '../../server/log.ts';
import { chunksOf } from '../../server/memory/chunks.ts';
import { readSeries } from '../../server/metrics/counts.ts';
import type { Storage, TaskStorage } from '../../server/storage/storage.ts';
import { type Handler, indexMemory } from '../../server/tasks/handlers.ts';
import { startWorker, type Worker, type WorkerOptions } from '../../server/tasks/worker.ts';
import { claimOne, record } from '../storage/fixtures.ts';
import { openInFolder } from '../storage/sqlite.ts';
import { opened, project, withStorage } from '../storage/suite.ts';
import { until } from '../support/until.ts';

let storage: Storage;
let worker: Worker | undefined;
let logged: LogEntry[];

// The tests share one queue, which is empty when a test begins.
withStorage(openInFolder);
beforeEach(() => {
  storage = opened.storage;
  logged = [];
});

afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});

type Started = Partial<Omit<WorkerOptions, 'handlers'>> & { handler?: Handler };

function start({ handler = indexMemory, ...options }: Started = {}): void {
  const log = createLogger('debug', (entry) => logged.push(entry));
  const owner = crypto.randomUUID();
  const clock = { now: Date.now, progress() {} };
  // With a random number of 0, the backoff is 0, so a failed task is due again immediately.
  const defaults = { storage, owner, log, random: () => 0, handlers: { index: handler } };
  worker = startWorker({ ...defaults, ...clock, ...options });
}

async function acceptTexts(...texts: string[]): Promise<string[]> {
  const records = texts.map((content) => record({ content }));
  const ids = await project.accept(records, { at: Date.now() });
  worker?.wake();
  return ids;
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `text ${n}`);

/** Polls all statuses with one read, because one read per status would take most of the CPU. */
function allEnded(ids: string[]) {
  return until(async () => {
    const all = (await project.statuses(ids)).filter(({ status }) => status !== 'processing');
    return all.length === ids.length ? all : null;
  });
}

const ended = async (id = '') => (await allEnded([id]))[0];

test('an accepted record is indexed, and its status counts the chunks', async () => {
  start();
  const long = 'A sentence of some length, to be cut. '.repeat(40_000);
  const [short, large, empty] = await acceptTexts('short', long, '');
  expect(await ended(short)).toMatchObject({ status: 'complete', chunksTotal: 1, attempts: 1 });
  const total = chunksOf(long, '{}').length;
  expect(await ended(large)).toMatchObject({ chunksComplete: total, chunksTotal: total });
  expect(await ended(empty)).toMatchObject({ status: 'complete', chunksTotal: 0 });
  expect(await project.search('sentence')).toMatchObject([{ id: large }]);
});

test('tasks queued before the start are processed, even if a crashed process had claimed them', async () => {
  const ids = await acceptTexts('one', 'two');
  await claimOne(storage, { owner: 'crashed', now: Date.now() });
  start();
  const statuses = await allEnded(ids);
  expect(statuses.map(({ status }) => status)).toEqual(['complete', 'complete']);
  expect(statuses.map(({ attempts }) => attempts)).toEqual([2, 1]);
});

test('many records are each processed once, in order', async () => {
  const seen: string[] = [];
  const ids = await acceptTexts(...numbered(700));
  start({
    handler: (work) => {
      seen.push(work.task.memoryId);
      return indexMemory(work);
    },
  });
  await allEnded(ids);
  expect(seen).toEqual(ids);
});

/** The attempts of all workers of this process: complete, retried and failed. */
const attempts = () =>
  readSeries('memory_task_attempts_total').map(({ counts: [value = 0] }) => value);

test('a record whose handler always throws fails after five attempts, and others succeed', async () => {
  const before = attempts();
  start({
    handler: async ({ text }) => {
      if (text?.content === 'poison') throw new Error('cannot be split');
      return { chunks: 1 };
    },
  });
  const [one, poison, two] = await acceptTexts('one', 'poison', 'two');
  const errorMessage = 'processing failed on attempt 5 of 5';
  expect(await ended(poison)).toMatchObject({ status: 'failed', attempts: 5, errorMessage });
  for (const id of [one, two])
    expect(await ended(id)).toMatchObject({ status: 'complete', attempts: 1 });
  const ofPoison = logged.filter(({ fields }) => fields.memoryId === poison);
  expect(ofPoison.map(({ level }) => level)).toEqual(Array.from({ length: 5 }, () => 'warn'));
  expect(attempts().map((count, at) => count - (before[at] ?? 0))).toEqual([2, 4, 1]);
});

test('a failed attempt waits for its backoff', async () => {
  const times: number[] = [];
  start({
    random: () => 0.5,
    handler: async () => {
      times.push(Date.now());
      if (times.length < 2) throw new Error('not yet');
      return { chunks: 1 };
    },
  });
  const [id] = await acceptTexts('text');
  expect(await ended(id)).toMatchObject({ status: 'complete', attempts: 2 });
  const [first = 0, second = 0] = times;
  expect(second - first).toBeWithin(490, 2_000);
});

test.each([
  [4, 'complete', null],
  [5, 'failed', 'processing failed on attempt 5 of 5'],
])('after %i crashes of the process, a task is %s', async (crashes, status, errorMessage) => {
  const [id] = await acceptTexts('fatal');
  for (let attempt = 1; attempt <= crashes; attempt += 1) {
    await claimOne(storage, { owner: `process ${attempt}`, now: Date.now() });
    await storage.recoverTasks({ owner: 'next', now: Date.now() });
  }
  start();
  expect(await ended(id)).toMatchObject({ status, errorMessage });
});

const once = () => new Error('once');
const unavailable = () => new ServiceError('unavailable', 'the disk is full');
type Operation = Exclude<keyof TaskStorage, 'releaseTask'>;

/** Returns a storage whose operation throws on the first `calls` calls. */
function failing(operation: Operation, calls: number, error: () => Error): TaskStorage {
  let left = calls;
  return {
    ...storage,
    [operation]: async (argument: never) => {
      left -= 1;
      if (left >= 0) throw error();
      return storage[operation](argument);
    },
  };
}

/** Returns a handler that throws on the first `calls` calls. */
function failingHandler(calls: number, error: () => Error): Handler {
  let left = calls;
  return async (work) => {
    left -= 1;
    if (left >= 0) throw error();
    return indexMemory(work);
  };
}

test.each<[Operation, () => Error]>([
  ['recoverTasks', unavailable],
  ['claimTasks', unavailable],
  ['claimTasks', () => new Error('broken')],
  ['completeTasks', unavailable],
  ['completeTasks', () => new Error('broken')],
  ['failTask', unavailable],
])('a %s that throws at first loses no record and uses up no attempt', async (operation, error) => {
  const handler = operation === 'failTask' ? failingHandler(1, once) : indexMemory;
  start({ storage: failing(operation, 1, error), handler });
  const ids = await acceptTexts('one', 'two');
  const processed = { status: 'complete', attempts: 1 };
  expect(await allEnded(ids)).toMatchObject([processed, processed]);
  const isLogged = () => logged.some(({ level }) => level === 'warn' || level === 'error');
  await until(isLogged, { what: 'a line in the log' });
});

test('a database fault in or before a handler does not count as an attempt', async () => {
  const storage = failing('readTexts', 3, unavailable);
  start({ storage, handler: failingHandler(3, unavailable) });
  const [id] = await acceptTexts('text');
  expect(await ended(id)).toMatchObject({ status: 'complete', attempts: 1 });
});

test('database faults during a long batch lose no record', async () => {
  const { claimTasks } = storage;
  const small = (claim: Parameters<typeof claimTasks>[0]) => claimTasks({ ...claim, limit: 50 });
  const ids = await acceptTexts(...numbered(300));
  start({ storage: { ...failing('completeTasks', 3, unavailable), claimTasks: small } });
  const statuses = await allEnded(ids);
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set(['complete']));
  expect(new Set(statuses.map(({ attempts }) => attempts))).toEqual(new Set([1]));
});

test('a text that changes while it is processed is processed again', async () => {
  const externalKey = { source: 's', externalId: 'e' };
  let changed = false;
  start({
    handler: async (work) => {
      const result = await indexMemory(work);
      if (!changed) await project.accept([record({ ...externalKey, content: 'x'.repeat(2_500) })]);
      changed = true;
      return result;
    },
  });
  const [id] = await project.accept([record({ ...externalKey, content: 'old' })]);
  worker?.wake();
  expect(await ended(id)).toMatchObject({ status: 'complete', chunksTotal: 3, attempts: 1 });
});

test('a memory that is deleted while it is processed is removed completely', async () => {
  start({
    handler: async (work) => {
      await project.remove(work.task.memoryId);
      return indexMemory(work);
    },
  });
  const [id] = await acceptTexts('text');
  await until(async () => (await storage.taskQueueState()).pending === 0);
  expect(await project.status(id ?? '')).toBeNull();
});

test('a clock set back by an hour delays no record', async () => {
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  const handler = failingHandler(1, once);
  start({ now, handler, random: () => 0.999 });
  const [waiting] = await acceptTexts('fails once, and waits');
  await until(() => logged.length > 0, { what: 'the failure' });
  offsetMs = -3_600_000;
  const [fresh] = await acceptTexts('accepted after');
  worker?.wake();
  for (const id of [waiting, fresh]) expect(await ended(id)).toMatchObject({ status: 'complete' });
});

test('stop() stores the running task and releases the others', async () => {
  let stopped: Promise<void> | undefined;
  const slow: TaskStorage = {
    ...storage,
    async completeTasks(results) {
      await Bun.sleep(50);
      return storage.completeTasks(results);
    },
    async releaseTask(lease) {
      await Bun.sleep(50);
      return storage.releaseTask(lease);
    },
  };
  start({
    storage: slow,
    handler: async (work) => {
      stopped ??= worker?.stop();
      return indexMemory(work);
    },
  });
  const ids = await acceptTexts(...numbered(20));
  await until(() => stopped !== undefined);
  await stopped;
  const statuses = await project.statuses(ids);
  expect(statuses[0]).toMatchObject({ status: 'complete', attempts: 1 });
  const released = { status: 'processing', attempts: 0 };
  expect(statuses.slice(1)).toMatchObject(Array(19).fill(released));
  expect(await storage.recoverTasks({ owner: 'next', now: Date.now() })).toBe(0);
});

test('progress is reported for each task and while idle', async () => {
  let moves = 0;
  const progress = () => {
    moves += 1;
  };
  start({ progress });
  await until(() => moves > 0, { what: 'progress without a task' });
  const ids = await acceptTexts(...numbered(50));
  await allEnded(ids);
  expect(moves).toBeGreaterThan(50);
});
