/**
 * The first count in each millisecond is random and lower than this, to leave room for more ids in
 * the same millisecond.
 */
const firstCount = 4_096;
const counts = 16_384;

/** Reused, because allocating these buffers takes longer than all other steps of creating an id. */
const bytes = new Uint8Array(16);
const view = new DataView(bytes.buffer);

let lastMs = 0;
let count = 0;
/** Random bits that all ids of a millisecond share, so that the count orders them. */
let shared = 0;

/**
 * Creates an opaque id: a version 8 UUID that contains the time in milliseconds (48 bits), random
 * bits of the millisecond (12 bits), a count within it (14 bits) and 48 random bits. Ids begin with
 * the time, so that new rows are adjacent in an index.
 */
export function newMemoryId(): string {
  crypto.getRandomValues(bytes);
  nextCount();
  view.setUint16(0, Math.floor(lastMs / 2 ** 32));
  view.setUint32(2, lastMs % 2 ** 32);
  view.setUint16(6, 0x8000 | shared);
  view.setUint16(8, 0x8000 | count);
  return `mem_${bytes.toHex()}`;
}

/**
 * Increments the count. If the clock has advanced or the count is used up, advances the time and
 * restarts the count instead.
 */
function nextCount(): void {
  const now = Date.now();
  count += 1;
  if (now <= lastMs && count < counts) return;
  lastMs = Math.max(now, lastMs + 1);
  count = view.getUint16(8) % firstCount; // mutate-ignore constant: all bytes are random
  shared = view.getUint16(6) % 4_096; // mutate-ignore constant: all bytes are random
}

/**
 * Returns the same id for the same user and id. It is a hash, so nobody can find an `id` that gives
 * an id of another user.
 */
export function derivedMemoryId(userId: string, id: string): string {
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify([userId, id])).digest('hex');
  return `mem_${hash.slice(0, 32)}`;
}

export function newRequestId(): string {
  return `req_${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
}
