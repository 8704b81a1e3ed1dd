/**
 * Bun collects a thread's garbage when its heap has doubled, in the HTTP thread not before it has
 * grown by 32 MB, and the other threads cannot use that memory. A thread collects its garbage
 * earlier if it has handled this much text, in bytes or UTF-16 units. A collection beside other
 * work takes 3 to 17 ms.
 */
const collectedUnits = 8 * 1024 * 1024;

/** A collection that nothing else runs beside takes 20 to 40 ms. */
const collectedBodyBytes = 16 * 1024 * 1024;

/**
 * Counts text that this thread has received, read or sent. After a lot, collects garbage: in the
 * HTTP thread beside other work, because every request would wait for it.
 */
export const countText = createCounter(collectedUnits, () => Bun.gc(!Bun.isMainThread));

/**
 * Counts the body of a request that has ended. Its parsed form has taken several times as much
 * memory, of which a collection beside other work would leave most.
 */
export const countBody = createCounter(collectedBodyBytes, () => Bun.gc(true));

export function countTexts(texts: readonly string[]): void {
  for (const { length } of texts) countText(length);
}

function createCounter(limit: number, collect: () => void): (units: number) => void {
  let counted = 0;
  return (units) => {
    const isPlanned = counted >= limit;
    counted += units;
    if (isPlanned || counted < limit) return;
    // Wait for the current operation, because the garbage includes its texts once it has ended.
    setImmediate(() => {
      counted = 0;
      collect();
    });
  };
}

/** Frees bytes that nothing uses any more. A collection would free their memory much later. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  // A part of a larger buffer is left alone, because other bytes may share the buffer.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
