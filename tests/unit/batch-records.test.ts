import { expect, test } from 'bun:test';
import { type Entry, pairOf, parseRecord } from '../../cli/bulk/records.ts';

function parsed(item: unknown, type?: 'conversation') {
  const bytes = new TextEncoder().encode(JSON.stringify(item));
  return parseRecord({ number: 1, end: bytes.length, bytes, tooLong: false }, type) as Entry;
}

test('an empty externalId names nothing, and an empty source no system', () => {
  const pair = (item: object) => pairOf(parsed({ userId: 'u', ...item }));
  expect(pair({ externalId: '' })).toBeUndefined();
  expect(pair({ externalId: '1', source: '' })).toBe(pair({ externalId: '1' }) ?? '');
});
