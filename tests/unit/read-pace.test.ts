import { expect, test } from 'bun:test';
import { createReadPace } from '../../server/storage/read-pace.ts';

/** The amount of text that may be read in 100 ms, in UTF-16 units. */
const units = 12_800_000;

test('overlapping reads of a project share one rate', async () => {
  const begun = performance.now();
  const resumed = Promise.withResolvers<void>();
  const pace = createReadPace(resumed.resolve);
  pace.add(1, units, begun - 150);
  expect(pace.isPaused(1)).toBe(false);
  pace.add(1, units, begun - 150);
  expect([pace.isPaused(1), pace.isPaused(2)]).toEqual([true, false]);
  await resumed.promise;
  expect(pace.isPaused(1)).toBe(false);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(50);
});

test('a read below the permitted rate is not followed by a pause', () => {
  const pace = createReadPace(() => {});
  for (let n = 0; n < 5; n += 1) pace.add(1, units, performance.now() - 100);
  expect(pace.isPaused(1)).toBe(true);
  pace.add(2, units, performance.now() - 101);
  expect(pace.isPaused(2)).toBe(false);
});
