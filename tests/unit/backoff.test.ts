import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { backoffMs } from '../../server/tasks/worker.ts';

const almostOne = 1 - Number.EPSILON;
const longest = (attempt: number) => backoffMs(attempt, almostOne);

test('the maximum delay doubles with every attempt', () => {
  expect([1, 2, 3, 4, 5].map(longest)).toEqual([999, 1_999, 3_999, 7_999, 15_999]);
});

test('no delay exceeds a minute, however often a task failed', () => {
  expect([7, 8, 100, 10_000].map(longest)).toEqual([59_999, 59_999, 59_999, 59_999]);
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
