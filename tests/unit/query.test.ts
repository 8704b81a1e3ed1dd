import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readQuery } from '../../server/http/query.ts';
import { thrownBy } from '../support/thrown.ts';

const base = 'http://127.0.0.1:7070/v1/memories';
const read = (search: string) => ({ ...readQuery(base + search) });

test('any names and values are parsed as sent', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((name) => name.isWellFormed());
  const name = text.filter((one) => one !== '');
  const queries = fc.dictionary(name, text, { maxKeys: 5 });
  fc.assert(
    fc.property(queries, (query) => {
      expect(read(`?${new URLSearchParams(query)}`)).toEqual({ ...query });
    }),
  );
});

test.each([
  ['', {}],
  ['?', {}],
  ['?&&', {}],
  ['?a', { a: '' }],
  ['?a=', { a: '' }],
  ['?a=b=c', { a: 'b=c' }],
  ['?a=b?c', { a: 'b?c' }],
  ['?a=b+c%2Bd', { a: 'b c+d' }],
  ['?a=b#c?d=e', { a: 'b' }],
  ['?metadata%5Bk%5D=v', { 'metadata[k]': 'v' }],
  ['?__proto__=x', { ['__proto__']: 'x' }],
])('parses %p', (search, query) => {
  expect(read(search)).toEqual(query);
});

test.each([
  ['?a=1&a=2', 'a: must not be repeated'],
  ['?a=1&%61=1', 'a: must not be repeated'],
  ['?=b', 'the query contains a parameter without a name'],
  ['?a=%ff', 'the query is not valid percent-encoded UTF-8'],
  ['?%zz=1', 'the query is not valid percent-encoded UTF-8'],
  ['?a=%ed%a0%80', 'the query is not valid percent-encoded UTF-8'],
])('rejects %p', (search, message) => {
  expect(thrownBy(() => read(search))).toMatchObject({ code: 'invalid_request', message });
});
