import { expect, test } from 'bun:test';
import { backoffMs } from '../../server/tasks/worker.ts';

test('the delay is random up to a maximum that doubles with every attempt, up to a minute', () => {
  const attempts = [1, 2, 3, 4, 5, 7, 8, 100, 10_000];
  const longest = attempts.map((attempt) => backoffMs(attempt, 1 - Number.EPSILON));
  const minute = Array(4).fill(59_999);
  expect(longest).toEqual([999, 1_999, 3_999, 7_999, 15_999, ...minute]);
  expect([0, 1 / 3, 0.5].map((drawn) => backoffMs(3, drawn))).toEqual([0, 1_333, 2_000]);
});
