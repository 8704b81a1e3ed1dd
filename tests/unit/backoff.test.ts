import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { backoffMs } from '../../server/tasks/worker.ts';

const almostOne = 1 - Number.EPSILON;
const longest = (attempt: number) => backoffMs(attempt, almostOne);

test('the maximum delay doubles with every attempt, up to a minute', () => {
  const attempts = [1, 2, 3, 4, 5, 7, 8, 100, 10_000];
  const minute = Array(4).fill(59_999);
  expect(attempts.map(longest)).toEqual([999, 1_999, 3_999, 7_999, 15_999, ...minute]);
});

test('every delay is an integer between zero and the maximum', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), random, (attempt, drawn) => {
      const wait = backoffMs(attempt, drawn);
      expect(Number.isInteger(wait)).toBe(true);
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(wait).toBeLessThanOrEqual(longest(attempt));
    }),
  );
});

test('the whole range is used, to spread retries of tasks that failed together', () => {
  expect(backoffMs(3, 0)).toBe(0);
  expect(backoffMs(3, 0.5)).toBe(2_000);
});
