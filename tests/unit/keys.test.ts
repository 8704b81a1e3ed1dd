import { expect, test } from 'bun:test';
import { crc32 } from 'node:zlib';
import { apiKeyPattern } from '../../server/config.ts';
import { hashKey, keyToStore, makeKey } from '../../server/http/keys.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('a key is mk_, 32 random characters and the checksum of both', () => {
  for (let count = 0; count < 100; count += 1) {
    const key = makeKey();
    expect(key).toMatch(/^mk_[0-9A-Za-z]{38}$/);
    expect(key).toMatch(apiKeyPattern);
    const checksum = [...key.slice(-6)].reduce((sum, one) => sum * 62 + alphabet.indexOf(one), 0);
    expect(checksum).toBe(crc32(key.slice(0, -6)));
  }
});

test('keys are unique, and every character is equally likely', () => {
  const keys = Array.from({ length: 5_000 }, makeKey);
  expect(new Set(keys).size).toBe(keys.length);
  const counts = new Map<string, number>();
  for (const one of keys.flatMap((key) => [...key.slice(3, 35)])) {
    counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  // Each of the 62 characters occurs 2,581 times on average, with a standard deviation of 50.
  // As remainders of single bytes, the first 8 would occur 3,125 times.
  expect(counts.size).toBe(62);
  expect(Math.max(...counts.values())).toBeLessThan(2_581 + 6 * 50);
  expect(Math.min(...counts.values())).toBeGreaterThan(2_581 - 6 * 50);
});

test('the hash is SHA-256 in hex', () => {
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('the stored fields identify a key without containing it', () => {
  const key = makeKey();
  const kind = { userId: 'ada', readOnly: true, metricsOnly: false, expiresAt: null };
  const about = { project: 'shop', name: 'first run', createdAt: 1, ...kind };
  const stored = keyToStore(key, about);
  expect(stored).toMatchObject({ ...about, hash: hashKey(key), prefix: key.slice(0, 7) });
  expect(stored.lastFour).toBe(key.slice(-4));
  expect(stored.id).toMatch(/^key_[0-9a-f]{32}$/);
  expect(JSON.stringify(stored)).not.toContain(key.slice(0, 12));
});
