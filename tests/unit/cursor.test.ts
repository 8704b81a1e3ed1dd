import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readCursor, writeCursor } from '../../server/http/cursor.ts';
import { thrownBy } from '../support/thrown.ts';

test('a cursor decodes to its position, and needs no encoding in a URL', () => {
  const text = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(text, fc.array(text), (at, list) => {
      const cursor = writeCursor(at, list);
      expect(readCursor(cursor, list)).toEqual(at);
      expect(encodeURIComponent(cursor)).toBe(cursor);
    }),
  );
});

test('rejects a cursor used with parts that are equal when joined', () => {
  const cursor = writeCursor('1795168800000 mem_1', ['u-1', 'desc']);
  const error = thrownBy(() => readCursor(cursor, ['u-1d', 'esc']));
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ field: 'cursor' }] });
  expect(error.message).toContain('different user, order or filter');
});
