import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ListQuery } from '../../sdk/contract/page.ts';
import { SearchQuery } from '../../sdk/contract/search.ts';
import { readNoQuery, readQuery, withTypes } from '../../server/http/query.ts';
import { thrownBy } from '../support/thrown.ts';

const base = 'http://127.0.0.1:7070/v1/memories';
const typed = (query: Record<string, string>) => withTypes(query, ListQuery.properties);
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
])('parses %p', (search, query) => {
  expect(read(search)).toEqual(query);
});

test('__proto__ is treated like any other name', () => {
  expect(Object.entries(readQuery(`${base}?__proto__=x`))).toEqual([['__proto__', 'x']]);
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

test('a route without query parameters rejects any', () => {
  expect(() => readNoQuery(`${base}?`)).not.toThrow();
  expect(thrownBy(() => readNoQuery(`${base}?a=1`)).message).toBe(
    'a: is not a known query parameter',
  );
});

test.each([
  ['true', true],
  ['false', false],
  ['', ''],
  ['TRUE', 'TRUE'],
  ['1', '1'],
])('parses the flag %p as %p', (explain, value) => {
  expect(withTypes({ explain }, SearchQuery.properties)).toEqual({ explain: value });
});

test.each(['', ' 5', '+5', '1.5', '1e1', '0x10', '٣', '1'.repeat(400)])(
  'the limit %p is not parsed as a number',
  (limit) => {
    expect(typed({ limit })).toEqual({ limit });
  },
);

test('metadata filters are grouped by key, for any key', () => {
  const query = { a: '1', 'metadata[k]': 'v', 'metadata[a[b]]': '', 'metadata[__proto__]': 'x' };
  const { metadata, ...rest } = typed(query);
  expect(rest).toEqual({ a: '1' });
  expect(Object.entries(metadata as object)).toEqual([
    ['k', 'v'],
    ['a[b]', ''],
    ['__proto__', 'x'],
  ]);
  expect(typed({ a: '1' })).toEqual({ a: '1' });
  expect(() => typed({ metadata: 'x' })).toThrow('metadata[key]=value');
});

test.each(['metadata[a][b]', 'metadata[][b]', 'metadata[a][]', 'metadata[a][b][c]'])(
  '%s is rejected with its name, because only top-level keys can be compared',
  (name) => {
    expect(thrownBy(() => typed({ [name]: 'v' }))).toMatchObject({
      code: 'invalid_request',
      message: `${name}: must name a top-level key of the metadata`,
    });
  },
);
