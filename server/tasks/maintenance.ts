import type { Logger } from '../log.ts';
import { count } from '../metrics/counts.ts';
import type { Storage } from '../storage/storage.ts';
import type { UserRef } from '../storage/types/project.ts';
import { createNotifier } from './notifier.ts';

const everyMs = 30_000;
/** The pause after a snapshot, as a multiple of the time that it took to build. */
const pauseFactor = 3; // mutate-ignore constant: affects only cost

/**
 * Starts the periodic cleanup, which is followed by storing search indexes. Returns a function that
 * stops both and waits for a run in progress.
 */
export function startMaintenance(options: {
  storage: Storage;
  authenticator: { flushKeyUsage(): Promise<void> };
  now(): number;
  /** A monotonic clock, in milliseconds. */
  clock(): number;
  log: Logger;
}): () => Promise<void> {
  const { storage, authenticator, now, clock, log } = options;
  let isStopped = false;
  /** The run in progress. Storing large indexes may take longer than the interval. */
  let running: Promise<void> | null = null;
  let lastRunAt = clock();
  const pause = createNotifier();
  /** The last user whose search index was stored, or could not be built. Null after all users. */
  let stored: UserRef | null = null;

  async function run(): Promise<void> {
    try {
      await authenticator.flushKeyUsage();
      let more = true;
      while (more && !isStopped) {
        const elapsedMs = clock() - lastRunAt;
        lastRunAt += elapsedMs;
        const done = await storage.maintain({ now: now(), elapsedMs });
        count('memory_expired_memories_total', {}, done.expiredMemories);
        more = done.more;
      }
      await storeSnapshots();
    } catch (error) {
      log.warn('periodic maintenance failed and will be retried', { error });
    }
  }

  async function storeSnapshots(): Promise<void> {
    const begun = clock();
    do {
      if (isStopped) return;
      const begunOne = clock();
      stored = await storage.nextUnstored({ after: stored });
      if (stored !== null) await storage.storeSnapshotOf({ owner: stored }).catch(logFailure);
      await pause.wait(pauseFactor * (clock() - begunOne));
    } while (stored !== null && clock() - begun < everyMs);
  }

  function logFailure(error: unknown): void {
    log.warn("a user's search index could not be stored and will be tried again", { error });
  }

  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = null;
    });
  }, everyMs);
  return async () => {
    isStopped = true;
    pause.notify();
    clearInterval(timer);
    await running;
  };
}
