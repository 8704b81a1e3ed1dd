import * as headerNames from '../../sdk/contract/headers.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Storage } from '../storage/storage.ts';
import type { ResponseHead } from './response.ts';
import { type Count, createSharedRateLimit } from './shared-rate-limit.ts';

/** Prevents many names from exhausting memory. Beyond this number, the oldest name is dropped. */
const maxNames = 10_000;

/**
 * Returns a function that counts calls per name in fixed windows. The first count of a name starts
 * its window. `clock` is monotonic, in ms, like `performance.now()`.
 */
export function createRateLimit(quota: number, seconds: number, clock: () => number) {
  const counts = new Map<string | number, { endsAt: number; used: number }>();
  return (name: string | number): Count => {
    const at = clock();
    let entry = counts.get(name);
    if (entry === undefined || at >= entry.endsAt) {
      counts.delete(name);
      entry = { endsAt: at + seconds * 1_000, used: 0 };
      counts.set(name, entry);
      // mutate-ignore boundary: one more name
      if (counts.size > maxNames) counts.delete(counts.keys().next().value ?? '');
    }
    entry.used += 1;
    return { left: quota - entry.used, resetSeconds: Math.ceil((entry.endsAt - at) / 1_000) };
  };
}

/**
 * Returns a function that counts a request, sets the rate limit headers, and throws `rate_limited`
 * once the quota is exceeded.
 */
export function createProjectLimit(
  rateLimit: Config['rateLimit'],
  clock: () => number,
  storage: Pick<Storage, 'reserveQuota'>,
) {
  if (rateLimit === null) return () => {};
  const { requests, seconds } = rateLimit;
  const { reserveQuota } = storage;
  const policy = `"default";q=${requests};w=${seconds}`;
  const count =
    reserveQuota === null
      ? createRateLimit(requests, seconds, clock)
      : createSharedRateLimit(rateLimit, clock, reserveQuota);
  return async ({ projectId }: { projectId: number }, headers: ResponseHead['headers']) => {
    const { left, resetSeconds } = await count(projectId);
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
