import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Job, Passage, PassageStep, Storage } from '../storage/storage.ts';
import { createTurns } from '../turns.ts';
import { backoffMs, longestBackoffMs, maxAttempts } from './backoff.ts';

/**
 * The queue's worker: claims what is due, cuts each text into passages, stores them, and sleeps
 * until something is accepted or due again. Results are stored in the commit of the next claim.
 *
 *   idle -> claim -> work -> [store, claim] -> work … -> idle
 *                       \-> the job fails, and is tried again later, at most `maxAttempts` times
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
  index(content: string, metadata: string): Passage[] | Promise<Passage[]>;
  /** In [0, 1), for the backoff's jitter. */
  random?: () => number;
};

type Failure = { failure: unknown };
type Cut = { job: Job; passages: Passage[] };

const claimLimit = 256;
/** Passages stored in one transaction, so that a long document lets others in between. */
const passagesPerStep = 500;
/** However quiet it is, look this often: a wake-up may have been for another process. */
const longestSleepMs = 5_000;
const pauseAfterFaultMs = 1_000;

export function startWorker(options: WorkerOptions): Worker {
  const { storage, now, log, index, random = Math.random } = options;
  const bell = createBell();
  let stopping = false;
  let movedAt = performance.now();
  const storing: Promise<void>[] = [];

  async function loop(): Promise<void> {
    // At the start the process before ended in these attempts; later only the database failed.
    let recovery: { countAttempt: boolean } | null = { countAttempt: true };
    while (!stopping) {
      try {
        if (recovery !== null) await storage.recoverJobs(recovery);
        recovery = null;
        const jobs = await claimNext();
        if (jobs.length === 0) await bell.wait(await sleepMs());
        else await runAll(jobs);
      } catch (error) {
        log.error('the queue met a fault and goes on', { error });
        recovery = { countAttempt: false };
        await bell.wait(pauseAfterFaultMs);
      }
    }
    await Promise.allSettled(storing);
  }

  /** Claims while the results of the last claim are stored, so that both share a commit. */
  async function claimNext(): Promise<Job[]> {
    const horizon = now() + longestBackoffMs;
    const claimed = storage.claimJobs({ now: now(), horizon, limit: claimLimit });
    // Looked at below; until then a failure must not count as one that nobody handles.
    claimed.catch(() => {});
    const stored = storing.splice(0);
    await Promise.allSettled(stored);
    await Promise.all(stored);
    const jobs = await claimed;
    movedAt = performance.now();
    return jobs;
  }

  async function sleepMs(): Promise<number> {
    const nextAt = await storage.nextJobAt();
    if (nextAt === null) return longestSleepMs;
    return Math.min(longestSleepMs, Math.max(0, nextAt - now()));
  }

  /** Cuts one text after the other, and begins to store what came of it. */
  async function runAll(jobs: Job[]): Promise<void> {
    const turn = createTurns();
    const short: Cut[] = [];
    for (const job of jobs) {
      const outcome = stopping ? null : await cut(job);
      if (outcome === null) begin(giveBack(job));
      else if ('failure' in outcome || outcome.length > passagesPerStep)
        begin(settle(job, outcome));
      else short.push({ job, passages: outcome });
      await turn();
    }
    if (short.length > 0) begin(storeTogether(short));
  }

  function begin(work: Promise<void>): void {
    work.catch(() => {});
    storing.push(work);
  }

  async function giveBack(job: Job): Promise<void> {
    await storage.releaseJob(job);
  }

  /** The work itself: the passages of the job's text, or why there are none. */
  async function cut({ attempt, content, metadata }: Job): Promise<Passage[] | Failure> {
    movedAt = performance.now();
    if (attempt > maxAttempts) return { failure: 'the service ended during each attempt' };
    try {
      return await index(content, metadata);
    } catch (error) {
      return { failure: error };
    }
  }

  /** One write for all; where it is refused, each is stored alone, so that only one is to blame. */
  async function storeTogether(cuts: Cut[]): Promise<void> {
    try {
      await storage.storePassages(cuts.map(({ job, passages }) => stepOf(job, passages)));
    } catch {
      await Promise.all(cuts.map(({ job, passages }) => settle(job, passages)));
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
    for (let first = 0; first < passages.length; first += passagesPerStep) {
      const [held] = await storage.storePassages([stepOf(job, passages, first)]);
      if (!held) return;
    }
  }

  function stepOf(job: Job, passages: Passage[], first = 0): PassageStep {
    const { projectId, userId, seq, leaseToken } = job;
    const step = passages.slice(first, first + passagesPerStep);
    const total = passages.length;
    return { projectId, userId, seq, leaseToken, now: now(), first, passages: step, total };
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
