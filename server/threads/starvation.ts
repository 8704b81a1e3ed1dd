import { readFileSync } from 'node:fs';

/** A thread that has had a core for the rest of the time should have responded. */
const starvedShare = 0.75;

/**
 * Returns a function that reports whether a thread has spent most of the time since the previous
 * call waiting for a core. This happens to threads of low priority on a busy machine. Only Linux
 * measures it; on other systems, the function returns false.
 */
export function watchStarvation(threadId: string): () => boolean {
  let before = { at: performance.now(), waitedMs: waitedMs(threadId) };
  return () => {
    const now = { at: performance.now(), waitedMs: waitedMs(threadId) };
    const isStarved = now.waitedMs - before.waitedMs > starvedShare * (now.at - before.at);
    before = now;
    return isStarved;
  };
}

/** Returns how long the thread has been ready to run without a core. */
function waitedMs(threadId: string): number {
  try {
    const [, ns] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ');
    return Number(ns) / 1e6;
  } catch {
    return 0;
  }
}
