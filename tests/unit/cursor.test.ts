import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ServiceError } from '../../server/errors.ts';
import { readCursor, writeCursor } from '../../server/http/cursor.ts';
import { thrownBy } from '../support/thrown.ts';

const position = '1795168800000 mem_1';

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

test.each([
  ['another user', ['u-2', 'desc']],
  ['another order', ['u-1', 'asc']],
  ['a filter', ['u-1', 'desc', 'type=ticket']],
  ['parts that are equal when joined', ['u-1d', 'esc']],
])('rejects a cursor used with %s', (_, list) => {
  const error = thrownBy(() => readCursor(writeCursor(position, ['u-1', 'desc']), list));
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ field: 'cursor' }] });
  expect(error.message).toContain('different user, order or filter');
});

test.each([
  '',
  'x',
  '!!!',
  'null',
  Buffer.from('[]').toString('base64url'),
  Buffer.from('{"position":"1"}').toString('base64url'),
  Buffer.from('[1,"x"]').toString('base64url'),
  Buffer.from('[null,"x"]').toString('base64url'),
])('rejects %p as a cursor', (cursor) => {
  const error = thrownBy(() => readCursor(cursor, ['u-1', 'desc']));
  expect(error).toMatchObject({
    code: 'invalid_request',
    details: [
      { field: 'cursor', message: 'was not issued by this service; start again without a cursor' },
    ],
  });
});
