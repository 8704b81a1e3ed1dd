/** Counts per name in fixed windows of time, each begun by its first count. */
export type Window = {
  /** Counts one; `left` is below zero once the quota is used up. */
  count(name: string): { left: number; resetSeconds: number };
};

/** Names beyond this many push the oldest out, so that made-up names cannot fill the memory. */
const maxNames = 10_000;

/** `clock` is in ms and never goes back, as `performance.now()`. */
export function createWindow(quota: number, seconds: number, clock: () => number): Window {
  const counts = new Map<string, { endsAt: number; used: number }>();
  return {
    count(name) {
      const at = clock();
      let entry = counts.get(name);
      if (entry === undefined || at >= entry.endsAt) {
        counts.delete(name);
        entry = { endsAt: at + seconds * 1_000, used: 0 };
        counts.set(name, entry);
        if (counts.size > maxNames) counts.delete(counts.keys().next().value ?? '');
      }
      entry.used += 1;
      return { left: quota - entry.used, resetSeconds: Math.ceil((entry.endsAt - at) / 1_000) };
    },
  };
}
