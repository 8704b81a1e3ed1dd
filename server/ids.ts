/**
 * Creates an opaque id. Ids of this process are in the order of their creation, unless the clock is
 * set back. They begin with the time, so that new rows are adjacent in an index.
 */
export function newMemoryId(): string {
  return `mem_${Bun.randomUUIDv7('buffer').toHex()}`;
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
