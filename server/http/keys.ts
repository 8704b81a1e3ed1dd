import { crc32 } from 'node:zlib';
import type { NewKey } from '../storage/types/keys.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 32;
const checksumLength = 6;

/**
 * Creates an API key: `mk_`, 32 random base62 characters, and a checksum that lets secret scanners
 * recognize a real key. The key is shown once; only its hash is stored.
 */
export function makeKey(): string {
  // The remainder of a number with 256 bits favors no character noticeably.
  const random = BigInt(`0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`);
  const body = `mk_${base62(random, randomLength)}`;
  return body + base62(BigInt(crc32(body)), checksumLength);
}

/** Returns the SHA-256 hash in hex. The keys are random, so a slow hash would add no security. */
export function hashKey(key: string): string {
  return Bun.CryptoHasher.hash('sha256', key, 'hex');
}

/** `prefix` and `lastFour` help users identify a key. */
export function keyToStore(
  key: string,
  about: Omit<NewKey, 'id' | 'hash' | 'prefix' | 'lastFour'>,
): NewKey {
  const id = `key_${Bun.randomUUIDv7('buffer').toHex()}`;
  return { ...about, id, hash: hashKey(key), prefix: key.slice(0, 7), lastFour: key.slice(-4) };
}

/** Returns the last `length` digits. */
function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) {
    text = `${alphabet[Number(rest % 62n)]}${text}`;
  }
  return text;
}
