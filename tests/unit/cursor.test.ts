import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ServiceError } from '../../server/errors.ts';
import { readCursor, writeCursor } from '../../server/http/cursor.ts';
import { thrownBy } from '../support/thrown.ts';

test('a cursor decodes to its position', () => {
  const anyPosition = fc.string({ unit: 'grapheme' });
  const anyList = fc.array(fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(anyPosition, anyList, (at, list) => {
      expect(readCursor(writeCursor(at, list), list)).toEqual(at);
    }),
  );
});

test('a cursor needs no encoding in a URL', () => {
  const cursor = writeCursor('0 <>?&=+/ü', ['u 1', 'desc']);
  expect(encodeURIComponent(cursor)).toBe(cursor);
});

test('rejects a cursor used with parts that are equal when joined', () => {
  const cursor = writeCursor('1795168800000 mem_1', ['u-1', 'desc']);
  const error = thrownBy(() => readCursor(cursor, ['u-1d', 'esc']));
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ field: 'cursor' }] });
  expect(error.message).toContain('different user, order or filter');
});
