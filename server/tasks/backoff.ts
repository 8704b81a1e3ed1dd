export const maxAttempts = 5;

const baseMs = 500;
export const maxBackoffMs = 60_000;

/**
 * Returns the delay after a failed attempt. `attempt` starts at 1, and `random` is in [0, 1). Full
 * jitter spreads the retries of tasks that failed at the same time.
 */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(maxBackoffMs, baseMs * 2 ** attempt));
}
