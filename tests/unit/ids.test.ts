import { expect, test } from 'bun:test';
import { newMemoryId } from '../../server/ids.ts';

test('an id has the documented form and begins with its time', () => {
  const before = Date.now();
  for (let n = 0; n < 3; n += 1) {
    const id = newMemoryId();
    expect(id).toMatch(/^mem_[0-9a-f]{32}$/);
    const time = Number.parseInt(id.slice(4, 16), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    // Ids created in quick succession may have times slightly ahead of the clock.
    expect(time).toBeLessThanOrEqual(Date.now() + 1_000);
  }
});

test('ids that are created in quick succession have the documented form and order', () => {
  const ids = Array.from({ length: 20_000 }, () => newMemoryId());
  const form = /^mem_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
  expect(ids.filter((id) => !form.test(id))).toEqual([]);
  expect(ids).toEqual([...new Set(ids)].sort());
});
