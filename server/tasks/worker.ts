import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { count } from '../metrics/counts.ts';
import type { TaskStorage } from '../storage/storage.ts';
import type { Lease, Task, TaskResult, TaskText } from '../storage/types/tasks.ts';
import { faultPoint } from '../threads/fault-points.ts';
import type { Handlers } from './handlers.ts';
import { createNotifier } from './notifier.ts';

export type WorkerOptions = {
  storage: TaskStorage;
  handlers: Handlers;
  /** The name of the worker, unique among all past and present workers. */
  owner: string;
  now(): number;
  log: Logger;
  /**
   * Called when the loop makes progress: after each claim, even an empty one, and before each task.
   */
  progress(): void;
  /** Returns a random number in [0, 1), for the jitter of the backoff. */
  random?(): number;
};

const tasksAtOnce = 256;
/** The number of texts that are in memory at once. */
const textsAtOnce = 16;
const leaseMs = faultPoint('lease-ms', 10_000);
/** The poll interval: another process may have queued a task, or planned its retry. */
const maxSleepMs = 5_000;
/** A timer may end a little early, and the retry would then wait for the next poll. */
const marginMs = 5;
const pauseAfterFaultMs = 1_000;
const maxAttempts = 5;
const baseBackoffMs = 500;
const maxBackoffMs = 60_000;

export type Worker = ReturnType<typeof startWorker>;

/**
 * The queue's worker: claims due tasks, does the work outside of any transaction, stores the
 * results under their leases, and sleeps until a task is accepted or due. Results share a commit
 * with the next claim.
 *
 *   idle -> claim -> work -> [complete, claim] -> work … -> idle
 *                       \-> the task fails and is retried later, up to `maxAttempts` attempts
 *
 * No exception ends the worker. An exception in a task fails that task. An exception in the queue
 * is logged, and the loop continues after a pause.
 */
export function startWorker(options: WorkerOptions) {
  const { storage, handlers, owner, now, log, progress, random = Math.random } = options;
  const notifier = createNotifier();
  let isStopping = false;
  /** Whether the storage failed. A storage failure does not count as a failed attempt. */
  let hasFault = false; // mutate-ignore boolean: pauses once, until a record arrives
  /** Results that are being stored while the next tasks are claimed. */
  const storing: Promise<void>[] = [];

  async function loop(): Promise<void> {
    let isRecovered = false;
    let fault = '';
    while (!isStopping) {
      try {
        if (!isRecovered) await storage.recoverTasks({ owner, now: now() });
        // mutate-ignore boolean: nothing is left to recover
        isRecovered = true;
        const tasks = await claimNext();
        fault = '';
        if (tasks.length > 0) await runAll(tasks);
        else if (!hasFault) await notifier.wait(maxSleepMs);
        if (hasFault) await notifier.wait(pauseAfterFaultMs);
        hasFault = false;
      } catch (error) {
        // A fault that lasts is logged once, because the log may be on the disk that is full.
        const level = String(error) === fault ? 'debug' : 'error';
        log[level]('the task queue failed; retrying', { error });
        fault = String(error);
        await notifier.wait(pauseAfterFaultMs);
      }
    }
    await Promise.allSettled(storing);
  }

  /** Claims tasks while earlier results are stored, so that both share a commit. */
  async function claimNext(): Promise<Task[]> {
    const claim = { owner, now: now(), leaseMs, horizon: now() + maxBackoffMs, limit: tasksAtOnce };
    const [claimed] = await Promise.allSettled([storage.claimTasks(claim), ...storing.splice(0)]);
    progress();
    if (claimed.status === 'rejected') throw claimed.reason;
    return claimed.value;
  }

  async function runAll(tasks: Task[]): Promise<void> {
    const results: TaskResult[] = [];
    // mutate-ignore boundary: no tasks are left
    for (let start = 0; start < tasks.length; start += textsAtOnce) {
      await runSome(tasks.slice(start, start + textsAtOnce), results);
    }
    if (results.length > 0) storing.push(complete(results));
  }

  /** A text may be outdated when it is processed, but its change also invalidates the lease. */
  async function runSome(tasks: Task[], results: TaskResult[]): Promise<void> {
    const reading = isStopping ? Promise.resolve([]) : storage.readTexts(tasks);
    // Each task receives the error.
    reading.catch(() => {});
    for (const [index, task] of tasks.entries()) {
      progress();
      if (isStopping) storing.push(release(task));
      // mutate-ignore operand: affects only speed
      else await run(task, async () => (await reading)[index] ?? readAlone(task), results);
    }
  }

  async function readAlone(task: Task): Promise<TaskText | null> {
    const [text = null] = await storage.readTexts([task]);
    return text;
  }

  async function run(task: Task, read: () => Promise<TaskText | null>, results: TaskResult[]) {
    try {
      if (task.attempt > maxAttempts) throw new Error('the service exited during every attempt');
      const result = await handlers[task.kind]({ task, text: await read(), storage });
      results.push({ ...task, now: now(), ...result });
      count('memory_task_attempts_total', { kind: task.kind, outcome: 'complete' });
    } catch (error) {
      // A storage error does not use up an attempt; any other error does.
      hasFault ||= error instanceof ServiceError;
      storing.push(error instanceof ServiceError ? release(task) : fail(task, error));
    }
  }

  async function complete(results: TaskResult[]): Promise<void> {
    try {
      await storage.completeTasks(results);
    } catch (error) {
      hasFault = true;
      log.warn('could not store the results of tasks; the tasks will be retried', { error });
      await Promise.all(results.map(release));
    }
  }

  /** Releases a task, to be run again after a pause. If that fails, its lease expires. */
  async function release(task: Lease): Promise<void> {
    await storage.releaseTask(task).catch(() => {});
    setTimeout(notifier.notify, pauseAfterFaultMs).unref();
  }

  async function fail(task: Task, error: unknown): Promise<void> {
    log.warn('a task failed', { memoryId: task.memoryId, error });
    const attempt = Math.min(task.attempt, maxAttempts);
    const retryAt = task.attempt >= maxAttempts ? null : now() + backoffMs(attempt, random());
    const outcome = retryAt === null ? 'failed' : 'retried';
    count('memory_task_attempts_total', { kind: task.kind, outcome });
    const errorMessage = `processing failed on attempt ${attempt} of ${maxAttempts}`;
    const failure = { ...task, now: now(), retryAt, errorMessage };
    await storage.failTask(failure).catch(() => release(task));
    if (retryAt !== null) setTimeout(notifier.notify, retryAt - now() + marginMs).unref();
  }

  const ended = loop();
  return {
    wake: notifier.notify,
    /** Finishes the current task, releases the other claimed tasks, and stops. */
    async stop(): Promise<void> {
      isStopping = true;
      notifier.notify();
      await ended;
    },
  };
}

/**
 * Returns the delay after a failed attempt. `attempt` starts at 1, and `random` is in [0, 1). Full
 * jitter spreads the retries of tasks that failed at the same time.
 */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(maxBackoffMs, baseBackoffMs * 2 ** attempt));
}
