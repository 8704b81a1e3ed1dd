import { expect, test } from 'bun:test';
import { createRateLimit } from '../../server/http/rate-limit.ts';

function windowAt(quota: number, seconds: number) {
  const clock = { ms: 1_000_000 };
  return { clock, count: createRateLimit(quota, seconds, () => clock.ms) };
}

test('reports when the quota is full again, in whole seconds rounded up', () => {
  const { clock, count } = windowAt(5, 60);
  expect(count('a').resetSeconds).toBe(60);
  clock.ms += 1;
  expect(count('a').resetSeconds).toBe(60);
  clock.ms += 58_999;
  expect(count('a').resetSeconds).toBe(1);
  clock.ms += 999;
  expect(count('a').resetSeconds).toBe(1);
});

test('the quota is full again when the window of the first request ends, not earlier', () => {
  const { clock, count } = windowAt(1, 60);
  // A window does not begin at a fixed time of the clock.
  clock.ms += 30_000;
  count('a');
  clock.ms += 59_999;
  expect(count('a').left).toBe(-1);
  clock.ms += 1;
  expect(count('a')).toEqual({ left: 0, resetSeconds: 60 });
});

test('new names evict the oldest ones instead of using more memory', () => {
  const { count } = windowAt(1, 60);
  count('oldest');
  count('second');
  for (let name = 0; name < 9_999; name += 1) count(String(name));
  expect(count('second').left).toBe(-1);
  expect(count('oldest').left).toBe(0);
});
