/**
 * The maximum delay of setTimeout, about 24 days. A timer with a longer delay fires immediately.
 */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Returns a signal that aborts when the time is up or when the caller's signal aborts, whichever
 * comes first; `close` stops the timer. AbortSignal.timeout is not used, because its timer cannot
 * be stopped. Listeners on the caller's signal are not used, because Node warns about the eleventh
 * listener.
 */
export function openDeadline(timeoutMs: number, signal: AbortSignal | null | undefined) {
  const own = new AbortController();
  // AbortSignal.any throws if `signal` is not an AbortSignal, so the timer starts afterwards.
  const either = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
  const timer = setTimeout(() => own.abort(), Math.min(timeoutMs, maxTimerMs));
  return { signal: either, close: () => clearTimeout(timer) };
}

/** Resolves when the time is up or the signal aborts. Check the signal afterwards. */
export async function sleep(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  const deadline = openDeadline(ms, signal);
  await new Promise((resolve) => {
    if (deadline.signal.aborted) resolve(null);
    else deadline.signal.addEventListener('abort', resolve);
  });
  deadline.close();
}
