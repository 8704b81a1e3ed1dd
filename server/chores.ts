import { limits } from '../sdk/contract/limits.ts';
import type { Authenticator } from './http/authenticate.ts';
import type { Logger } from './log.ts';
import type { Storage } from './storage/storage.ts';

const everyMs = 30_000;
const answersPerSweep = 1_000;

/** What has to be done now and then beside the requests. Returns how to stop it, which waits for
 * what is being done. */
export function startChores(options: {
  storage: Storage;
  authenticator: Authenticator;
  now(): number;
  log: Logger;
}): () => Promise<void> {
  const { storage, authenticator, now, log } = options;

  let stopped = false;
  let running = Promise.resolve();

  async function doChores(): Promise<void> {
    try {
      await authenticator.flushKeyUsage();
      const at = now();
      const sweep = { now: at, before: at - limits.idempotencyKeptMs, limit: answersPerSweep };
      while (!stopped && (await storage.sweepAnswers(sweep)) > 0);
    } catch (error) {
      log.warn('a chore was put off', { error });
    }
  }

  const timer = setInterval(() => {
    running = running.then(doChores);
  }, everyMs);
  return () => {
    stopped = true;
    clearInterval(timer);
    return running;
  };
}
