import { expect, test } from 'bun:test';
import { readSeries } from '../../server/metrics/counts.ts';
import { SearchIndex } from '../../server/search/index.ts';
import { createIndexCache } from '../../server/storage/index-cache.ts';

/** The number of memories in a large index. Only one large index fits into the limit. */
const large = 1_000;
const maxBytes = 1.5 * filled(new SearchIndex(), large).bytes;

function filled(index: SearchIndex, memories: number): SearchIndex {
  for (let n = 0; n < memories; n += 1) index.put({ id: `${n}`, createdAt: n, chunks: [] });
  return index;
}

/** Returns a cache of indexes with one memory for each user. Reading a size counts as a use. */
function cacheOf(...users: string[]) {
  const indexes = createIndexCache(maxBytes);
  const fill = (user: string, memories: number) => filled(indexes.get(user).index, memories);
  for (const user of users) fill(user, 1);
  const sizeOf = (user: string) => indexes.get(user).index.size;
  return { sizeOf, fill, dropOldest: indexes.dropOldest, dropAll: indexes.dropAll };
}

test('lookups and evictions are counted', () => {
  const counted = () => {
    const lookups = readSeries('memory_search_index_lookups_total');
    const evictions = readSeries('memory_search_index_evictions_total');
    return [...lookups, ...evictions].map(({ counts: [value = 0] }) => value);
  };
  const [hits = 0, misses = 0, evicted = 0] = counted();
  const { fill, dropOldest } = cacheOf('a', 'b');
  fill('a', large);
  fill('c', large);
  dropOldest();
  expect(counted()).toEqual([hits + 1, misses + 3, evicted + 2]);
});

test('over the memory limit, the indexes that were used least recently are dropped', () => {
  const { sizeOf, fill, dropOldest } = cacheOf('a', 'b');
  dropOldest();
  fill('c', large);
  expect(sizeOf('a')).toBe(1);
  fill('d', large);
  dropOldest();
  expect(['d', 'a', 'c', 'b'].map(sizeOf)).toEqual([large, 1, 0, 0]);
});

test('an index counts toward the limit with its present size, until it is dropped', () => {
  const { sizeOf, fill, dropOldest, dropAll } = cacheOf('a');
  for (let round = 0; round < 2; round += 1) {
    fill('b', large);
    dropOldest();
    fill('a', 1);
    dropOldest();
    expect(sizeOf('b')).toBe(large);
    fill('a', large);
    dropOldest();
    expect(['a', 'b'].map(sizeOf)).toEqual([large, 0]);
    dropAll();
  }
});

test('an index that exceeds the limit by itself is kept until another index is used', () => {
  const { sizeOf, fill, dropOldest } = cacheOf('a');
  fill('b', 2 * large);
  dropOldest();
  expect(sizeOf('b')).toBe(2 * large);
  expect(sizeOf('a')).toBe(0);
  dropOldest();
  expect(sizeOf('b')).toBe(0);
});

test('the memory of a dropped index is freed at once, and that of a kept one is not', () => {
  const indexes = createIndexCache(maxBytes);
  const bytes = filled(new SearchIndex(), large).toBytes();
  for (const user of ['a', 'b']) indexes.get(user).restore(bytes, 1);
  const restored = ['a', 'b'].map((user) => indexes.get(user).index);
  const areFreed = () => restored.map((index) => index.bytes < bytes.length);
  expect(areFreed()).toEqual([false, false]);
  indexes.dropOldest();
  expect(areFreed()).toEqual([true, false]);
  expect(indexes.get('b').index.size).toBe(large);
  indexes.dropAll();
  expect(areFreed()).toEqual([true, true]);
  expect(indexes.get('b').index.size).toBe(0);
});

test('the vectors of an index count toward the limit', () => {
  const indexes = createIndexCache(maxBytes);
  const dims = 1_024;
  const data = new Uint8Array(4 + dims);
  for (const user of ['a', 'b']) {
    const cached = indexes.get(user);
    filled(cached.index, 1);
    const vectors = cached.vectorsOf({ modelId: 1, dims });
    for (let n = 0; vectors.table.bytes < maxBytes; n += 1) {
      vectors.add([{ id: `${n}`, change: n, data }], n);
    }
  }
  indexes.dropOldest();
  expect(['a', 'b'].map((user) => indexes.get(user).index.size)).toEqual([0, 1]);
});
