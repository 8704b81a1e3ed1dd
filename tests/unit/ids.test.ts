import { describe, expect, test } from 'bun:test';
import { bucketOf, bucketOfId } from '../../server/bucket.ts';
import { newMemoryId } from '../../server/ids.ts';
import { bucketOfTask, newTaskId } from '../../server/storage/postgres/writer/task-rows.ts';

describe("a string's bucket", () => {
  // The bucket is the low twelve bits of the CRC-32, which is 0xcbf43926 for '123456789'.
  test.each([
    ['123456789', 0x926],
    ['', 0],
    ['u-1', 0x97c],
    ['jürgen 🙂', 0x968],
  ])('of %p never changes', (text, bucket) => {
    expect(bucketOf(text)).toBe(bucket);
  });
});

describe("a new memory's id", () => {
  test('has the documented form, begins with its time and contains the bucket of its user', () => {
    const before = Date.now();
    for (const userId of ['u-1', 'jürgen 🙂', '']) {
      const id = newMemoryId(userId);
      expect(id).toMatch(/^mem_[0-9a-f]{32}$/);
      expect(bucketOfId(id)).toBe(bucketOf(userId));
      const time = Number.parseInt(id.slice(4, 16), 16);
      expect(time).toBeGreaterThanOrEqual(before);
      // Ids created in quick succession may have times slightly ahead of the clock.
      expect(time).toBeLessThanOrEqual(Date.now() + 1_000);
    }
  });

  test('is unique and sorts after earlier ids of the same user', () => {
    const ids = Array.from({ length: 50_000 }, () => newMemoryId('u-1'));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...ids].sort());
  });

  test('has the documented form and order while the clock stands still', () => {
    const clock = Date.now;
    const at = clock();
    Date.now = () => at;
    try {
      const ids = Array.from({ length: 20_000 }, () => newMemoryId('u-1'));
      const malformed = ids.filter((id) => !/^mem_[0-9a-f]{12}897c[89ab][0-9a-f]{15}$/.test(id));
      expect(malformed).toEqual([]);
      expect(ids).toEqual([...new Set(ids)].sort());
    } finally {
      Date.now = clock;
    }
  });
});

test('random task ids in one bucket are distinct safe integers that contain the bucket', () => {
  const ids = Array.from({ length: 5_000 }, () => newTaskId(0x97c));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => Number.isSafeInteger(id) && bucketOfTask(id) === 0x97c)).toBe(true);
});

describe('the bucket of an id in another form', () => {
  test.each([
    'mem_known',
    'mem_0199c0de7abc7def8123456789abcdef',
    'mem_0199c0de7abc8DEF8123456789abcdef',
  ])('is the bucket of its text: %s', (id) => {
    expect(bucketOfId(id)).toBe(bucketOf(id));
  });
});
