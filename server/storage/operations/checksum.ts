/* The checksum of bytes that are stored as a cache, and of what they belong to. */

type Owner = readonly (string | number)[];

const checksumBytes = 8;

/** Returns the bytes after their checksum. */
export function withChecksum(bytes: Uint8Array, owner: Owner): Buffer {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeBigUInt64LE(checksumOf(bytes, owner));
  return Buffer.concat([checksum, bytes]);
}

/** Returns the bytes; null if they are damaged or belong to something else. */
export function withoutChecksum(data: Uint8Array, owner: Owner): Uint8Array | null {
  if (data.length <= checksumBytes) return null;
  const bytes = data.subarray(checksumBytes);
  const checksum = Buffer.from(data.subarray(0, checksumBytes)).readBigUInt64LE();
  return checksum === checksumOf(bytes, owner) ? bytes : null;
}

function checksumOf(bytes: Uint8Array, owner: Owner): bigint {
  return Bun.hash.xxHash64(bytes, Bun.hash.xxHash64(JSON.stringify(owner)));
}
