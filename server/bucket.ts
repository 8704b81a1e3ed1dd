/**
 * A database can distribute its rows by bucket. All of a user's memories and tasks are in one
 * bucket. Stored ids and rows contain bucket numbers, so the results of these functions must never
 * change.
 */
const buckets = 4_096;

/**
 * Matches an id from `newMemoryId`: the time, the version digit 8, the bucket, the variant and
 * count, and random bits.
 */
const madeId = /^mem_[0-9a-f]{12}8([0-9a-f]{3})[89ab][0-9a-f]{15}$/;

export function bucketOf(text: string): number {
  return Bun.hash.crc32(text) & (buckets - 1);
}

/** Returns the bucket in an id from `newMemoryId`; for any other id, the bucket of its text. */
export function bucketOfId(id: string): number {
  const [, bucket] = madeId.exec(id) ?? [];
  return bucket === undefined ? bucketOf(id) : Number.parseInt(bucket, 16);
}
