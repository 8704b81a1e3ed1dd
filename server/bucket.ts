/**
 * Everything of a user is stored in one bucket, and a bucket is the unit by which a database may
 * spread its rows. The number is part of ids and of stored rows, so what is here never changes.
 */
const buckets = 4_096;

/** An id made by `newMemoryId`: the time, an 8, the bucket, and what makes it unique. */
const madeId = /^mem_[0-9a-f]{12}8([0-9a-f]{3})[89ab][0-9a-f]{15}$/;

/** The bucket of a user, or of any other text. */
export function bucketOf(text: string): number {
  return Bun.hash.crc32(text) & (buckets - 1);
}

/** The bucket that the id of a memory names: its user's, unless the id comes from elsewhere. */
export function bucketOfId(id: string): number {
  const [, bucket] = madeId.exec(id) ?? [];
  return bucket === undefined ? bucketOf(id) : Number.parseInt(bucket, 16);
}
