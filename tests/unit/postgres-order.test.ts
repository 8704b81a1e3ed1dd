import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { byKey } from '../../server/storage/postgres/row.ts';

test.each([
  [[1, 'b'], [2, 'a'], -1],
  [[1, 'b'], [1, 'a'], 1],
  [[1, 'a'], [1, 'a'], 0],
  [[null, 'b'], [1, 'a'], -1],
  [[1, 'a'], [null, 'b'], 1],
  [[1, null], [1, null], 0],
] as const)('byKey() compares %j with %j by the first difference', (a, b, order) => {
  expect(byKey(a, b)).toBe(order);
});

test('any two transactions sort the same rows in the same order', () => {
  const row = fc.tuple(fc.option(fc.nat(3)), fc.option(fc.string({ maxLength: 2 })));
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      expect(rows.toSorted(byKey)).toEqual(rows.toReversed().toSorted(byKey));
    }),
  );
});
