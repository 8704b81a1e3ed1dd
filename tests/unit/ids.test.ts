import { expect, test } from 'bun:test';
import { newMemoryId } from '../../server/ids.ts';

test('ids have the documented form, begin with their time, and are in order', () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, () => newMemoryId());
  const form = /^mem_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
  expect(ids.filter((id) => !form.test(id))).toEqual([]);
  expect(ids).toEqual([...new Set(ids)].sort());
  const times = ids.map((id) => Number.parseInt(id.slice(4, 16), 16));
  expect(times[0]).toBeGreaterThanOrEqual(before);
  // Ids created in quick succession may have times slightly ahead of the clock.
  expect(times.at(-1)).toBeLessThanOrEqual(Date.now() + 1_000);
});
