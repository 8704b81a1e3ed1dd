import { readFileSync } from 'node:fs';

/** A thread that has had a core for this share of the time should have responded. */
const sufficientShare = 0.25;
/** Linux counts CPU time in these units, on every architecture. */
const msPerUnit = 10;

/**
 * Returns a function that reports whether a thread is waiting for a core and has had little CPU
 * time since the previous call. This happens to low-priority threads on a busy machine. The times
 * are available only on Linux; on other systems, the function returns false.
 */
export function watchStarvation(threadId: string): () => boolean {
  let before = { at: performance.now(), usedMs: 0 };
  return () => {
    const { isReady, usedMs } = stateOf(threadId);
    const now = { at: performance.now(), usedMs };
    const share = (now.usedMs - before.usedMs) / (now.at - before.at);
    before = now;
    return isReady && share < sufficientShare;
  };
}

/** `isReady` is true if the thread has a core or waits for one, and false if it is blocked. */
function stateOf(threadId: string): { isReady: boolean; usedMs: number } {
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'utf8');
    // The second field, the name, may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, userTime = 0, systemTime = 0] = [fields[0], fields[11], fields[12]];
    return { isReady: state === 'R', usedMs: (Number(userTime) + Number(systemTime)) * msPerUnit };
  } catch {
    return { isReady: false, usedMs: 0 };
  }
}
