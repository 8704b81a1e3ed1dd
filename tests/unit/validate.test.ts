import { describe, expect, test } from 'bun:test';
import { SaveRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { sentence, type Validator, validateChat, validator } from '../../sdk/contract/validate.ts';
import { validateBatchBody } from '../../server/http/batch.ts';

/** Returns a list whose item at `index` throws when read. Validation must stop before that item. */
function unseenAfter(index: number): unknown[] {
  const list = Array(index).fill(0);
  Object.defineProperty(list, index, {
    enumerable: true,
    get() {
      throw new Error('looked at');
    },
  });
  return list;
}

test('items beyond the limit of a list are not read', () => {
  const sentences = sentencesOf(validateBatchBody, { items: unseenAfter(1_000) });
  expect(sentences).toEqual(['items: must have at most 1000 items']);
});

test.each(['tags', 'participants'])(
  'items of %s beyond the limit of the metadata are not read',
  (name) => {
    const data = { messages: [{ role: 'user', content: 'c' }], [name]: unseenAfter(4_096) };
    const sentences = sentencesOf(validateChat, { userId: 'u', data });
    expect(sentences).toEqual([`data.${name}: must have at most 4096 items`]);
  },
);

const sentencesOf = (validate: Validator, value: unknown) => validate(value).map(sentence);

describe('a save', () => {
  const validate = validator(SaveRequest);
  const problemsOf = (fields: object) =>
    sentencesOf(validate, { userId: 'u', content: 'c', ...fields });
  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });

  test.each([
    [{ userId: '', content: '' }, ['userId: must not be empty', 'content: must not be empty']],
    [{ userId: 1, content: null }, ['userId: must be a string', 'content: must be a string']],
    [{ metadata: [] }, ['metadata: must be an object']],
    [{ metadata: null }, ['metadata: must be an object']],
    [{ content: 'a\0' }, ['content: must not contain the character U+0000']],
    [{ content: '\ud800' }, ['content: must be valid Unicode, without lone surrogates']],
    [{ content: '\udc00\ud800' }, ['content: must be valid Unicode, without lone surrogates']],
    [{ usreId: 'u' }, ['usreId: is not a known field']],
    [{ 'a/b~c.d': 1 }, ['a/b~c.d: is not a known field']],
    [{ userId: '😀'.repeat(257) }, ['userId: must be at most 256 characters, not 257']],
    [
      { metadata: { a: `${'ü'.repeat(8_188)}x` } },
      ['metadata: must be at most 16384 bytes as JSON, not 16385'],
    ],
    [{ metadata: nested(9) }, ['metadata: must be at most 8 levels deep']],
    [{ metadata: { a: [{ constructor: 1 }] } }, ['metadata: must not use the key "constructor"']],
  ])('reports the problems of row %#', (fields, sentences) => {
    expect(problemsOf(fields)).toEqual(sentences);
  });

  test('stops reading metadata once it exceeds the limit', () => {
    expect(problemsOf({ metadata: { list: unseenAfter(16_384) } })).toEqual([
      'metadata: must be at most 16384 bytes as JSON',
    ]);
  });

  test('names at most 20 fields and truncates long names', () => {
    const many = Array.from({ length: 50 }, (_, index) => [`f${index}`, 1]);
    expect(problemsOf(Object.fromEntries(many))).toHaveLength(20);
    const [long] = problemsOf({ ['x'.repeat(5_000)]: 1 });
    expect(long).toBe(`${'x'.repeat(200)}…: is not a known field`);
  });
});

test.each([
  [{}, ['userId: is required']],
  [{ userId: 'u', limit: 0 }, ['limit: must be at least 1']],
  [{ userId: 'u', limit: 101 }, ['limit: must be at most 100']],
  [{ userId: 'u', limit: 'ten' }, ['limit: must be an integer']],
  [{ userId: 'u', order: 'up' }, ['order: must be one of desc, asc']],
  [{ userId: 'u', page: '2' }, ['page: is not a known field']],
  [{ userId: 'u', limit: 100, order: 'asc', cursor: 'x' }, []],
])('the list query %j has the problems %j', (query, sentences) => {
  expect(sentencesOf(validator(ListQuery), query)).toEqual(sentences);
});
