import { observeMs } from './counts.ts';

const everyMs = 100;

/** Measures how late a timer of this thread is, until the returned function is called. */
export function watchEventLoopDelay(): () => void {
  let due = performance.now() + everyMs;
  const timer = setInterval(() => {
    const now = performance.now();
    observeMs('memory_event_loop_delay_seconds', {}, Math.max(0, now - due));
    due = now + everyMs;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
