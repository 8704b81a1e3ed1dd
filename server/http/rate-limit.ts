import { headers as headerNames } from '../../sdk/contract/headers.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Caller } from './authenticate.ts';

/** Counts by name in fixed windows. The first count of a name starts its window. */
export type RateLimit = {
  /** Adds one to the count. `left` is negative once the quota is exceeded. */
  count(name: string): { left: number; resetSeconds: number };
};

/** Beyond this number the oldest name is dropped, so that forged names cannot fill the memory. */
const maxNames = 10_000;

/** `clock` is monotonic, in ms, like `performance.now()`. */
export function createRateLimit(quota: number, seconds: number, clock: () => number): RateLimit {
  const counts = new Map<string, { endsAt: number; used: number }>();
  return {
    count(name) {
      const at = clock();
      let entry = counts.get(name);
      if (entry === undefined || at >= entry.endsAt) {
        counts.delete(name);
        entry = { endsAt: at + seconds * 1_000, used: 0 };
        counts.set(name, entry);
        if (counts.size > maxNames) counts.delete(counts.keys().next().value ?? '');
      }
      entry.used += 1;
      return { left: quota - entry.used, resetSeconds: Math.ceil((entry.endsAt - at) / 1_000) };
    },
  };
}

/**
 * The rate limit of projects: counts a request of the caller and sets the rate limit headers.
 * Throws `rate_limited`.
 */
export function createProjectLimit(rateLimit: Config['rateLimit'], clock: () => number) {
  if (rateLimit === null) return () => {};
  const { requests, seconds } = rateLimit;
  const limit = createRateLimit(requests, seconds, clock);
  const policy = `"default";q=${requests};w=${seconds}`;
  return ({ projectId }: Caller, headers: Record<string, string | number>) => {
    const { left, resetSeconds } = limit.count(String(projectId));
    headers[headerNames.rateLimitPolicy] = policy;
    headers[headerNames.rateLimit] = `"default";r=${Math.max(0, left)};t=${resetSeconds}`;
    if (left >= 0) return;
    throw new ServiceError(
      'rate_limited',
      `more than ${requests} requests in ${seconds} seconds; try again in ${resetSeconds} s`,
      { retryAfterSeconds: resetSeconds },
    );
  };
}
