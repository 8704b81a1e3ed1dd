import { expect, test } from 'bun:test';
import { createPageCache } from '../../server/http/page-cache.ts';

test('a page is made once for each version', async () => {
  let version = 1;
  let made = 0;
  const cache = createPageCache(async () => version);
  const make = async () => `page ${++made}`;
  expect(await cache.read('a', make)).toBe('page 1');
  expect(await cache.read('a', make)).toBe('page 1');
  expect(await cache.read('b', make)).toBe('page 2');
  version = 2;
  expect(await cache.read('a', make)).toBe('page 3');
});

test('a page made while the version moved on is not kept for the later one', async () => {
  let version = 1;
  const cache = createPageCache(async () => version);
  const early = cache.read('a', async () => {
    version = 2;
    await cache.read('b', async () => 'b');
    return 'early';
  });
  expect(await early).toBe('early');
  expect(await cache.read('a', async () => 'late')).toBe('late');
});

test('what is kept is bounded, and a page beyond the bound is answered all the same', async () => {
  const cache = createPageCache(async () => 1);
  const large = 'x'.repeat(5 * 1024 * 1024);
  for (const name of ['a', 'b', 'c', 'd']) await cache.read(name, async () => large);
  expect(await cache.read('d', async () => 'again')).toBe(large);
  expect(await cache.read('a', async () => 'again')).toBe('again');
  const huge = 'x'.repeat(20 * 1024 * 1024);
  expect(await cache.read('huge', async () => huge)).toBe(huge);
  expect(await cache.read('huge', async () => 'again')).toBe('again');
});

test('a page that could not be made is made anew', async () => {
  const cache = createPageCache(async () => 1);
  const failed = cache.read('a', () => Promise.reject(new Error('no')));
  expect(failed).rejects.toThrow('no');
  await failed.catch(() => {});
  expect(await cache.read('a', async () => 'yes')).toBe('yes');
});
