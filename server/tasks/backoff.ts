export const maxAttempts = 5;

const baseMs = 500;
/** The longest wait. */
export const maxBackoffMs = 60_000;

/** The wait after a failed attempt, counted from 1, with full jitter: tasks that failed together
 * are not retried together. `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(maxBackoffMs, baseMs * 2 ** attempt));
}
