/** 24 days, the longest that setTimeout can wait; a longer wait would end at once. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * A signal that fires when the time is up or the caller's own signal fires, whichever is first.
 * Close it to stop the timer. It is not built on AbortSignal.timeout, which cannot be closed,
 * nor on a listener of the caller's signal, which Node warns about from the eleventh on.
 */
export function openDeadline(timeoutMs: number, signal: AbortSignal | null | undefined) {
  const own = new AbortController();
  // Before the timer: this throws where the caller's is no signal.
  const either = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
  const timer = setTimeout(() => own.abort(), Math.min(timeoutMs, maxTimerMs));
  return { signal: either, close: () => clearTimeout(timer) };
}

/** Returns when the time is up, or at once when the signal fires; check the signal afterwards. */
export async function sleep(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  const deadline = openDeadline(ms, signal);
  await new Promise((resolve) => {
    if (deadline.signal.aborted) resolve(null);
    else deadline.signal.addEventListener('abort', resolve);
  });
  deadline.close();
}
