import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Job, Passage, Storage } from '../storage/storage.ts';
import { backoffMs, longestBackoffMs, maxAttempts } from './backoff.ts';

/**
 * The queue's worker: claims what is due, cuts each text into passages, stores them, and sleeps
 * until something is accepted or due again.
 *
 *   idle -> claim -> [work -> store]… -> claim … -> idle
 *                          \-> the job fails, and is tried again later, at most `maxAttempts` times
 *
 * No exception ends it: one in a job fails the job, one in the queue itself is logged and the loop
 * goes on after a pause.
 */
export type Worker = {
  /** Says that there may be work. Cheap; called after every accepted record. */
  wake(): void;
  /** Finishes the job in hand, gives back what was claimed beyond it, and ends. */
  stop(): Promise<void>;
  /** When the loop last got on, by `performance.now()`: a claim, a job, or nothing to do. */
  movedAt(): number;
};

export type WorkerOptions = {
  storage: Storage;
  now(): number;
  log: Logger;
  /** The work itself: a text into passages. `metadata` is JSON text. */
  index(content: string, metadata: string): Passage[];
  /** In [0, 1), for the backoff's jitter. */
  random?: () => number;
};

type Failure = { failure: unknown };

const claimLimit = 256;
/** Passages stored in one transaction, so that a long document lets others in between. */
const passagesPerStep = 500;
/** However quiet it is, look this often: a wake-up may have been for another process. */
const longestSleepMs = 5_000;
const pauseAfterFaultMs = 1_000;
/** Requests get a turn at least this often while texts are cut. */
const longestBlockMs = 8;

export function startWorker(options: WorkerOptions): Worker {
  const { storage, now, log, index, random = Math.random } = options;
  const bell = createBell();
  let stopping = false;
  let movedAt = performance.now();

  async function loop(): Promise<void> {
    // At the start the process before ended in these attempts; later only the database failed.
    let recovery: { countAttempt: boolean } | null = { countAttempt: true };
    while (!stopping) {
      try {
        if (recovery !== null) await storage.recoverJobs(recovery);
        recovery = null;
        const horizon = now() + longestBackoffMs;
        const jobs = await storage.claimJobs({ now: now(), horizon, limit: claimLimit });
        movedAt = performance.now();
        if (jobs.length === 0) await bell.wait(await sleepMs());
        else await runAll(jobs);
      } catch (error) {
        log.error('the queue met a fault and goes on', { error });
        recovery = { countAttempt: false };
        await bell.wait(pauseAfterFaultMs);
      }
    }
  }

  async function sleepMs(): Promise<number> {
    const nextAt = await storage.nextJobAt();
    if (nextAt === null) return longestSleepMs;
    return Math.min(longestSleepMs, Math.max(0, nextAt - now()));
  }

  /** Cuts one text after the other; the results are stored side by side and share commits. */
  async function runAll(jobs: Job[]): Promise<void> {
    const stored: Promise<void>[] = [];
    let breathedAt = performance.now();
    try {
      for (const job of jobs) {
        const settled = stopping ? giveBack(job) : settle(job, await cut(job));
        stored.push(settled);
        // Looked at below; until then a failure must not count as one that nobody handles.
        settled.catch(() => {});
        if (performance.now() - breathedAt < longestBlockMs) continue;
        await new Promise((resolve) => setImmediate(resolve));
        breathedAt = performance.now();
      }
    } finally {
      await Promise.allSettled(stored);
    }
    await Promise.all(stored);
  }

  async function giveBack(job: Job): Promise<void> {
    await storage.releaseJob(job);
  }

  /** The work itself: the passages of the job's text, or why there are none. */
  async function cut(job: Job): Promise<Passage[] | Failure> {
    if (job.attempt > maxAttempts) return { failure: 'the service ended during each attempt' };
    const memory = await storage.getMemory(job.projectId, job.memoryId);
    try {
      return memory === null ? [] : index(memory.content, memory.metadata);
    } catch (error) {
      return { failure: error };
    }
  }

  async function settle(job: Job, outcome: Passage[] | Failure): Promise<void> {
    try {
      await ('failure' in outcome ? fail(job, outcome.failure) : store(job, outcome));
    } catch (error) {
      // The database's fault costs the record no attempt; anything else is taken for its own.
      await (error instanceof ServiceError ? giveBack(job) : fail(job, error));
    }
    movedAt = performance.now();
  }

  async function store(job: Job, passages: Passage[]): Promise<void> {
    const total = passages.length;
    for (let first = 0; first < total; first += passagesPerStep) {
      const step = passages.slice(first, first + passagesPerStep);
      const held = await storage.storePassages({
        ...job,
        now: now(),
        first,
        passages: step,
        total,
      });
      if (!held) return;
    }
  }

  async function fail(job: Job, failure: unknown): Promise<void> {
    log.warn('a record could not be processed', { memoryId: job.memoryId, error: failure });
    const attempt = Math.min(job.attempt, maxAttempts);
    const retryAt = job.attempt >= maxAttempts ? null : now() + backoffMs(job.attempt, random());
    const errorMessage = `processing failed on attempt ${attempt} of ${maxAttempts}`;
    await storage.failJob({ ...job, now: now(), retryAt, errorMessage });
  }

  const ended = loop();
  return {
    wake: bell.ring,
    movedAt: () => movedAt,
    async stop() {
      stopping = true;
      bell.ring();
      await ended;
    },
  };
}

/** A sleep that can be cut short; a ring while nobody sleeps cuts the next sleep. */
function createBell() {
  let rung = false;
  let wakeUp: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wakeUp?.();
    },
    async wait(ms: number): Promise<void> {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      wakeUp = null;
      rung = false;
    },
  };
}
