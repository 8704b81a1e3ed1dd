/** 24 days, the maximum of setTimeout; it fires a longer timeout immediately. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * A signal that fires when the time is up or the caller's own signal fires, whichever is first.
 * Close it to stop the timer. AbortSignal.timeout cannot be closed, and Node warns about the
 * eleventh listener on the caller's signal, so it uses neither.
 */
export function openDeadline(timeoutMs: number, signal: AbortSignal | null | undefined) {
  const own = new AbortController();
  // This throws if the caller passed no AbortSignal, so it comes before the timer.
  const either = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
  const timer = setTimeout(() => own.abort(), Math.min(timeoutMs, maxTimerMs));
  return { signal: either, close: () => clearTimeout(timer) };
}

/** Resolves when the time is up or the signal fires; check the signal afterwards. */
export async function sleep(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  const deadline = openDeadline(ms, signal);
  await new Promise((resolve) => {
    if (deadline.signal.aborted) resolve(null);
    else deadline.signal.addEventListener('abort', resolve);
  });
  deadline.close();
}
