/** The longest timer, 23 days. One of more than 2 ** 31 - 1 ms would fire immediately. */
const maxTimerMs = 2e9;

/**
 * Returns a signal that aborts when the time is up or when the caller's signal aborts, whichever
 * comes first; `close` stops the timer. AbortSignal.timeout is not used, because its timer cannot
 * be stopped. Listeners on the caller's signal are not used, because Node warns about the eleventh
 * listener.
 */
export function openDeadline(timeoutMs: number, signal: AbortSignal | null | undefined) {
  const own = new AbortController();
  // AbortSignal.any throws if `signal` is not an AbortSignal, so the timer starts afterwards.
  const either = AbortSignal.any([own.signal, signal ?? own.signal]);
  const timer = setTimeout(() => own.abort(), Math.min(timeoutMs, maxTimerMs));
  return { signal: either, close: () => clearTimeout(timer) };
}

/** Resolves when the time is up or the signal aborts. Check the signal afterwards. */
export function sleep(ms: number, given: AbortSignal | null | undefined): Promise<unknown> {
  const { signal, close } = openDeadline(ms, given);
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', resolve);
  }).finally(close);
}
