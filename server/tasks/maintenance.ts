import type { Logger } from '../log.ts';
import { count } from '../metrics/counts.ts';
import type { Storage } from '../storage/storage.ts';

const everyMs = 30_000;

/**
 * Starts the periodic cleanup. Returns a function that stops the cleanup and waits for a run in
 * progress.
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
  let running = Promise.resolve();
  let lastRunAt = clock();

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
    } catch (error) {
      log.warn('periodic maintenance failed and will be retried', { error });
    }
  }

  const timer = setInterval(() => {
    running = running.then(run);
  }, everyMs);
  return () => {
    isStopped = true;
    clearInterval(timer);
    return running;
  };
}
