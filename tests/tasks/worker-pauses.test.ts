import { expect, test } from 'bun:test';
import { ServiceError } from '../../server/errors.ts';
import { createLogger } from '../../server/log.ts';
import type { TaskStorage } from '../../server/storage/storage.ts';
import type { Task } from '../../server/storage/types/tasks.ts';
import type { Handler } from '../../server/tasks/handlers.ts';
import { startWorker } from '../../server/tasks/worker.ts';
import { until } from '../support/until.ts';

/* The pauses of a worker whose storage fails. Without them, the worker would use a whole core. */

const task: Task = {
  projectId: 1,
  userId: 'ada',
  leaseToken: 1,
  kind: 'index',
  attempt: 1,
  memoryId: 'mem_1',
};

const fail = async () => {
  throw new ServiceError('unavailable', 'the disk is full');
};

/** Starts a worker on a queue that always has one due task, and lists the times of its claims. */
function start(broken: Partial<TaskStorage>, index: Handler) {
  const claims: number[] = [];
  const storage: TaskStorage = {
    recoverTasks: async () => 0,
    claimTasks: async () => [task],
    completeTasks: async () => [true],
    failTask: async () => true,
    releaseTask: async () => true,
    readTexts: async () => [null],
    ...broken,
  };
  const { claimTasks } = storage;
  storage.claimTasks = async (claim) => {
    claims.push(performance.now());
    // If the worker does not pause, its loop must not block the timers of this thread.
    await Bun.sleep(1);
    return claimTasks(claim);
  };
  const log = createLogger('silent', () => {});
  const clock = { now: Date.now, progress() {} };
  const worker = startWorker({ storage, handlers: { index }, owner: 'w', log, ...clock });
  return { claims, [Symbol.asyncDispose]: () => worker.stop() };
}

const works: Handler = async () => ({ chunks: 1 });

test.concurrent.each<[string, Partial<TaskStorage>, Handler]>([
  ['tasks cannot be claimed', { claimTasks: fail }, works],
  ['results cannot be stored', { completeTasks: fail }, works],
  ['texts cannot be read', { readTexts: fail }, works],
  ['a handler cannot use the storage', {}, fail],
])('a worker pauses for a second if %s', async (_, broken, handler) => {
  await using started = start(broken, handler);
  const { claims } = started;
  // The fault may be noticed only after the second claim, which is made while results are stored.
  await until(() => claims.length > 2, { what: 'the third claim' });
  const [first = 0, , third = 0] = claims;
  expect(third - first).toBeGreaterThan(900);
});

test.concurrent('a worker does not pause after a storage fault has ended', async () => {
  let isFaulty = true;
  await using started = start({}, async () => {
    if (!isFaulty) return { chunks: 1 };
    isFaulty = false;
    return fail();
  });
  await until(() => started.claims.length > 200, { what: '200 claims' });
});

test.concurrent('a task whose result could not be stored does not wait for the next poll', async () => {
  let [isDue, isFaulty] = [true, true];
  const isIdle = Promise.withResolvers<void>();
  const broken: Partial<TaskStorage> = {
    claimTasks: async () => {
      if (!isDue) isIdle.resolve();
      const due = isDue ? [task] : [];
      isDue = false;
      return due;
    },
    completeTasks: async () => {
      if (!isFaulty) return [true];
      isFaulty = false;
      await isIdle.promise;
      return fail();
    },
    releaseTask: async () => {
      isDue = true;
      return true;
    },
  };
  await using started = start(broken, works);
  await until(() => started.claims.length > 2, { what: 'the third claim' });
  const [first = 0, , third = 0] = started.claims;
  expect(third - first).toBeLessThan(4_000);
});
