export const maxAttempts = 5;

const baseMs = 500;
/** No wait is longer. */
export const maxBackoffMs = 60_000;

/** How long to wait after the failed attempt, counted from 1: full jitter, so that what failed
 * together does not come back together. `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(maxBackoffMs, baseMs * 2 ** attempt));
}
