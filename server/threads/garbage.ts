import { isMainThread } from 'node:worker_threads';

/**
 * Bun collects a thread's garbage when its heap has doubled and has grown by 32 MB, and the other
 * threads cannot use that memory. A thread collects its garbage earlier if it has handled this much
 * text, in bytes or UTF-16 units. A collection takes 3 to 17 ms.
 */
const collectedUnits = 8 * 1024 * 1024;

let units = 0;

/** Counts text that this thread has received, read or sent. After a lot, collects garbage. */
export function countText(more: number): void {
  const isPlanned = units >= collectedUnits;
  units += more;
  // Wait for the current operation, because the garbage includes its texts once it has ended.
  if (!isPlanned && units >= collectedUnits) setImmediate(collect);
}

export function countTexts(texts: readonly string[]): void {
  for (const { length } of texts) countText(length);
}

/** In the HTTP thread, collects beside other work, because every request would wait for it. */
function collect(): void {
  units = 0;
  Bun.gc(!isMainThread);
}
