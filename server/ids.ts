import { bucketOf } from './bucket.ts';

/** The first of a millisecond is taken below this, so that many more fit after it. */
const firstCount = 4_096;
const counts = 16_384;

let lastMs = 0;
let count = 0;

/**
 * Makes a new opaque id. It is a version 8 UUID: 48 bits of milliseconds, 12 bits of the user's
 * bucket, a count within the millisecond, 48 random bits. Ids begin with their time, so that new
 * rows land side by side, and those of one user sort in the order in which they were made.
 */
export function newMemoryId(userId: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(bytes.buffer);
  nextCount(view.getUint16(8) % firstCount);
  view.setUint16(0, Math.floor(lastMs / 2 ** 32));
  view.setUint32(2, lastMs % 2 ** 32);
  view.setUint16(6, 0x8000 | bucketOf(userId));
  view.setUint16(8, 0x8000 | count);
  return `mem_${bytes.toHex()}`;
}

/** Goes on counting where the clock stands still or was set back. */
function nextCount(first: number): void {
  const now = Date.now();
  count += 1;
  if (now <= lastMs && count < counts) return;
  lastMs = Math.max(now, lastMs + 1);
  count = first;
}

export function newRequestId(): string {
  return `req_${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
}
