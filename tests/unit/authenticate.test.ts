import { expect, test } from 'bun:test';
import { createAuthenticator } from '../../server/http/authenticate.ts';
import type { Storage } from '../../server/storage/storage.ts';
import type { StoredKey } from '../../server/storage/types/keys.ts';
import { newKey } from '../storage/fixtures.ts';
import { rejectionOf } from '../support/thrown.ts';

/** The same for an unknown key. */
const rejected = { code: 'unauthorized', message: 'the API key is unknown, expired or revoked' };

type Use = { id: string; at: number };

const unused = { projectId: 1, lastUsedAt: null, revokedAt: null };
const key: StoredKey = { ...newKey({ id: 'key_1' }), ...unused };

/**
 * An authenticator whose storage returns `stored` for every key. `time.ms` is the time of both
 * clocks. `lookups` returns how often a key was looked up. `duringWrite` runs in each write of
 * `writes`, with their number.
 */
function authenticatorFor(stored: StoredKey, duringWrite = async (_: number) => {}) {
  const time = { ms: 1_000 };
  const writes: Use[][] = [];
  const now = () => time.ms;
  let lookups = 0;
  const findKey = async () => {
    lookups += 1;
    return { ...stored };
  };
  const touchKeys = async (uses: Use[]) => {
    writes.push(uses);
    await duringWrite(writes.length);
  };
  const storage = { findKey, touchKeys } as Partial<Storage> as Storage;
  const authenticator = createAuthenticator({ storage, now, clock: now, fixed: null });
  const use = async (token = 'mk_of_a_test', scheme = 'Bearer ') =>
    authenticator.authenticate(scheme + token, () => '127.0.0.1');
  return { ...authenticator, time, use, writes, lookups: () => lookups };
}

test('the last use of a key is stored once, also if it is during a write', async () => {
  const { time, use, writes, flushKeyUsage } = authenticatorFor(key, async (count) => {
    if (count > 1) return;
    time.ms = 3_000;
    await use();
  });
  await use();
  time.ms = 2_000;
  await use();
  for (let n = 0; n < 3; n += 1) await flushKeyUsage();
  expect(writes).toEqual([[{ id: 'key_1', at: 2_000 }], [{ id: 'key_1', at: 3_000 }]]);
});

test('a use whose write failed is stored by the next write', async () => {
  const { use, writes, flushKeyUsage } = authenticatorFor(key, async (count) => {
    if (count === 1) throw new Error('the disk is full');
  });
  await use();
  expect(String(await rejectionOf(flushKeyUsage()))).toContain('the disk is full');
  await flushKeyUsage();
  const expected = [{ id: 'key_1', at: 1_000 }];
  expect(writes).toEqual([expected, expected]);
});

test.each([
  ['revoked', { revokedAt: 500 }],
  ['expired', { expiresAt: 1_000 }],
])('a rejected use of a key is not stored: %s', async (_, more) => {
  const { use, writes, flushKeyUsage } = authenticatorFor({ ...key, ...more });
  expect(await rejectionOf(use())).toMatchObject(rejected);
  await flushKeyUsage();
  expect(writes).toEqual([]);
});

test('a key is rejected from the exact millisecond of its expiry, even if it was just used', async () => {
  const { time, use } = authenticatorFor({ ...key, expiresAt: 1_001 });
  await use();
  time.ms += 1;
  expect(await rejectionOf(use())).toMatchObject(rejected);
});

test('a revoked key is accepted for less than half a second after its last lookup', async () => {
  const stored = { ...key };
  const { time, use } = authenticatorFor(stored);
  await use();
  stored.revokedAt = time.ms;
  time.ms += 499;
  await use();
  time.ms += 1;
  expect(await rejectionOf(use())).toMatchObject(rejected);
});

test('a key is cached once, however its header is written', async () => {
  const { use, lookups } = authenticatorFor(key);
  for (const scheme of ['Bearer ', 'bearer ', 'Bearer   ']) await use('mk_of_a_test', scheme);
  expect(lookups()).toBe(1);
});

test('ten thousand keys are cached, and one more empties the cache', async () => {
  const { use, lookups } = authenticatorFor(key);
  for (let n = 0; n < 10_000; n += 1) await use(`token_${n}`);
  await use('token_0');
  expect(lookups()).toBe(10_000);
  await use('one_more');
  await use('token_0');
  expect(lookups()).toBe(10_002);
});

test('flushKeyUsage() removes stale keys from the cache and keeps recent ones', async () => {
  const { time, use, lookups, flushKeyUsage } = authenticatorFor(key);
  for (let n = 0; n < 9_998; n += 1) await use(`stale_${n}`);
  time.ms += 500;
  await use('recent');
  await flushKeyUsage();
  const before = lookups();
  // With the stale keys, these would be more than the cache can hold.
  for (const token of ['recent', 'one', 'two', 'recent']) await use(token);
  expect(lookups() - before).toBe(2);
});
