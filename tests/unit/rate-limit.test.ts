import { expect, test } from 'bun:test';
import { createRateLimit } from '../../server/http/rate-limit.ts';

function windowAt(quota: number, seconds: number) {
  const clock = { ms: 1_000_000 };
  return { clock, window: createRateLimit(quota, seconds, () => clock.ms) };
}

test('the remaining quota counts down to zero and below', () => {
  const { window } = windowAt(2, 60);
  expect([1, 2, 3, 4].map(() => window.count('a').left)).toEqual([1, 0, -1, -2]);
});

test('each name has its own quota', () => {
  const { window } = windowAt(1, 60);
  window.count('a');
  expect(window.count('b').left).toBe(0);
  expect(window.count('a').left).toBe(-1);
});

test('reports when the quota is full again, in whole seconds rounded up', () => {
  const { clock, window } = windowAt(5, 60);
  expect(window.count('a').resetSeconds).toBe(60);
  clock.ms += 1;
  expect(window.count('a').resetSeconds).toBe(60);
  clock.ms += 58_999;
  expect(window.count('a').resetSeconds).toBe(1);
  clock.ms += 999;
  expect(window.count('a').resetSeconds).toBe(1);
});

test('the quota is full again when the window ends, not a millisecond earlier', () => {
  const { clock, window } = windowAt(1, 60);
  window.count('a');
  clock.ms += 59_999;
  expect(window.count('a').left).toBe(-1);
  clock.ms += 1;
  expect(window.count('a')).toEqual({ left: 0, resetSeconds: 60 });
});

test('a window starts with its first request, not at a fixed time of the clock', () => {
  const { clock, window } = windowAt(1, 60);
  clock.ms += 30_000;
  window.count('a');
  clock.ms += 59_999;
  expect(window.count('a').left).toBe(-1);
});

test('new names evict the oldest ones instead of using more memory', () => {
  const { window } = windowAt(1, 60);
  window.count('oldest');
  window.count('second');
  for (let name = 0; name < 9_999; name += 1) window.count(String(name));
  expect(window.count('second').left).toBe(-1);
  expect(window.count('oldest').left).toBe(0);
});
