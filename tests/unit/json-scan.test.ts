import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { JsonScan } from '../../server/http/json-scan.ts';
import { thrownBy } from '../support/thrown.ts';

function scanIn(pieceBytes: number, bytes: Uint8Array) {
  const scan = new JsonScan();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    scan.push(bytes.subarray(at, at + pieceBytes));
  }
  return scan.end();
}

const scan = (text: string) => scanIn(1_000, new TextEncoder().encode(text));
const messageOf = (text: string) => thrownBy(() => scan(text)).message;
const list = (count: number, item = '0') => `[${Array(count).fill(item).join(',')}]`;
const object = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`;

const tooDeep = 'the JSON must be at most 32 levels deep';
const tooMany = 'the JSON must contain at most 200000 values';
const tooWide = 'a record must contain at most 20000 fields';

const limits: [message: string, passes: string, fails: string][] = [
  [tooDeep, '['.repeat(32), '['.repeat(33)],
  [tooDeep, '[ '.repeat(32) + '] '.repeat(32), '[ '.repeat(33) + '] '.repeat(33)],
  [tooDeep, '{"a":'.repeat(32), '{"a":'.repeat(33)],
  [tooDeep, '[[]]'.repeat(100) + '['.repeat(32), `${'[[]]'.repeat(100)}${'['.repeat(33)}`],
  [tooDeep, `{"items":[${'['.repeat(30)}`, `{"items":[${'['.repeat(31)}`],
  [tooMany, list(199_999), list(200_000)],
  [tooMany, list(199_999, '[ ]'), list(200_000, '[ ]')],
  [tooMany, list(99_999, '[1]'), list(100_000, '[1]')],
  [tooMany, list(199_999, '{\n}'), list(200_000, '{\n}')],
  [tooMany, `[[],${list(199_998, '"a"').slice(1)}`, `[[],${list(199_999, '"a"').slice(1)}`],
  [tooWide, object(20_000), object(20_001)],
];

// The row is named by its number, because the texts are long.
test.each(limits)('%s: row %#', (message, passes, fails) => {
  expect(() => scan(passes)).not.toThrow();
  expect(messageOf(fails)).toBe(message);
});

describe('fields', () => {
  test('are counted for each item of a batch', () => {
    const [good, bad] = [object(20_000), object(20_001)];
    expect(scan(`{"items":[${good},${good},${good}]}`)).toHaveLength(3);
    expect(messageOf(`{"items":[${good},${bad}]}`)).toBe(tooWide);
  });

  test('are counted together if the body has other fields besides its items', () => {
    expect(messageOf(`{"items":[${object(20_000)}],"more":1}`)).toBe(tooWide);
    expect(messageOf(`{"items":[${object(20_000)}],"items":[{}]}`)).toBe(tooWide);
  });
});

test.each([
  ['1234567890123456', [15]],
  ['[-1234567890123456789,2,1234567890123456.5]', [17, 39]],
  ['123456789012345,6', []],
  ['"1234567890123456"', []],
  ['{"12345678":12345678}', []],
])('%s has long numbers at %j', (text, expected) => {
  for (const pieceBytes of [1, 5, 1_000]) {
    const scan = new JsonScan();
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      scan.push(bytes.subarray(at, at + pieceBytes));
    }
    scan.end();
    expect(scan.longNumbers).toEqual(expected);
  }
});

test.each([
  '"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["',
  `"\\"${'['.repeat(40)}"`,
  `"\\\\\\"${'{'.repeat(40)}"`,
  `["\\\\",["${'['.repeat(40)}"]]`,
  `{"${'['.repeat(40)}":"${','.repeat(300_000)}"}`,
  `"${':'.repeat(50_000)}"`,
  `"${'['.repeat(40)}`,
  `"\\`,
])('the contents of strings are not counted', (text) => {
  expect(() => scan(text)).not.toThrow();
  expect(() => scanIn(1, new TextEncoder().encode(text))).not.toThrow();
});

describe('the items in a batch', () => {
  test.each<[text: string, items: string[] | null]>([
    ['{"items":[1,[2,3],{"a":4}]}', ['1', '[2,3]', '{"a":4}']],
    [' {\n"items" : [ "]}" , 2 ] } \n', [' "]}" ', ' 2 ']],
    ['{"items":[]}', ['']],
    ['{"items":[,]}', ['', '']],
    ['{"items":["é,€"]}', ['"é,€"']],
    ['{"items":[1],"more":2}', null],
    ['{"items":[1],"items":[2]}', null],
    ['{"more":2,"items":[1]}', null],
    ['{"items":[1', null],
    ['{"items":[1}}', null],
    ['{"items":[1]]', null],
    ['{"items":[1]}}', null],
    ['{"items":{}}', null],
    ['[1,2]', null],
    ['', null],
  ])('of %p', (text, items) => {
    const bytes = new TextEncoder().encode(text);
    for (const pieceBytes of [1, 3, 300]) {
      const found = scanIn(pieceBytes, bytes)?.map(([begin, end]) => bytes.subarray(begin, end));
      expect(found?.map((range) => new TextDecoder().decode(range)) ?? null).toEqual(items);
    }
  });

  test('equal those that JSON.parse returns, for any JSON', () => {
    fc.assert(
      fc.property(fc.array(fc.json({ maxDepth: 5 }), { minLength: 1 }), fc.nat(400), (items, n) => {
        const bytes = new TextEncoder().encode(`{"items":[${items.join(' ,')}]}`);
        const found = scanIn(n + 1, bytes)?.map(([begin, end]) => bytes.subarray(begin, end));
        expect(found?.map((range) => JSON.parse(new TextDecoder().decode(range)))).toEqual(
          items.map((item) => JSON.parse(item)),
        );
      }),
    );
  });

  test('may be surrounded by any white space', () => {
    const blank = ' \t\r\n';
    const text = `${blank}{${blank}"items"${blank}:${blank}[1,${blank}2]${blank}}${blank}`;
    expect(scan(text)).toHaveLength(2);
    // If this were not recognized as a batch, the fields would be counted together.
    const [one, two] = [object(20_000), object(1)];
    expect(scan(`{"items":[${one},${two}]\r\n}\r\n`)).toHaveLength(2);
  });
});
