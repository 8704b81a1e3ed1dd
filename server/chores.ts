import { limits } from '../sdk/contract/limits.ts';
import type { Authenticator } from './http/authenticate.ts';
import type { Logger } from './log.ts';
import type { Storage } from './storage/storage.ts';

const everyMs = 30_000;
const answersPerSweep = 1_000;

/** What has to be done now and then beside the requests. Returns how to stop it. */
export function startChores(options: {
  storage: Storage;
  authenticator: Authenticator;
  now(): number;
  log: Logger;
}): () => void {
  const { storage, authenticator, now, log } = options;

  async function doChores(): Promise<void> {
    try {
      await authenticator.noteUse();
      const before = now() - limits.idempotencyKeptMs;
      while ((await storage.sweepAnswers({ before, limit: answersPerSweep })) > 0);
    } catch (error) {
      log.warn('a chore was put off', { error });
    }
  }

  const timer = setInterval(doChores, everyMs);
  return () => clearInterval(timer);
}
