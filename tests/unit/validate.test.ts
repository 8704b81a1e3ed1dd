import { describe, expect, test } from 'bun:test';
import { sentence } from '../../sdk/contract/errors.ts';
import { SaveRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { type Validator, validateChat, validator } from '../../sdk/contract/validate.ts';
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

const messages = [{ role: 'user', content: 'c' }];
const chatWith = (list: object) => ({ userId: 'u', data: { messages, ...list } });

test.each<[list: string, limit: number, validate: Validator, value: object]>([
  ['items', 1_000, validateBatchBody, { items: unseenAfter(1_000) }],
  ['data.tags', 4_096, validateChat, chatWith({ tags: unseenAfter(4_096) })],
  ['data.participants', 4_096, validateChat, chatWith({ participants: unseenAfter(4_096) })],
])('what is in %s beyond the limit of %i is not read', (list, limit, validate, value) => {
  expect(sentencesOf(validate, value)).toEqual([`${list}: must have at most ${limit} items`]);
});

const sentencesOf = (validate: Validator, value: unknown) => validate(value).map(sentence);

describe('a save', () => {
  const validate = validator(SaveRequest);
  const problemsOf = (fields: object) =>
    sentencesOf(validate, { userId: 'u', content: 'c', ...fields });
  const bytes = 'must be at most 16384 bytes as JSON';
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
    [{ metadata: { a: `${'ü'.repeat(8_188)}x` } }, [`metadata: ${bytes}, not 16385`]],
    [{ metadata: nested(9) }, ['metadata: must be at most 8 levels deep']],
    [{ metadata: { a: [{ constructor: 1 }] } }, ['metadata: must not use the key "constructor"']],
  ])('reports the problems of row %#', (fields, sentences) => {
    expect(problemsOf(fields)).toEqual(sentences);
  });

  test('stops reading metadata once it exceeds the limit', () => {
    const [problem] = problemsOf({ metadata: { list: unseenAfter(16_384) } });
    expect(problem).toBe('metadata: must be at most 16384 bytes as JSON');
  });

  test('names at most 20 fields and truncates long names', () => {
    const many = Array.from({ length: 50 }, (_, index) => [`f${index}`, 1]);
    expect(problemsOf(Object.fromEntries(many))).toHaveLength(20);
    const [long] = problemsOf({ ['x'.repeat(5_000)]: 1 });
    expect(long).toBe(`${'x'.repeat(200)}…: is not a known field`);
  });
});

test('the numbers and words of a list query have their own sentences', () => {
  const given = { limit: 0, order: 'up', page: '2' };
  expect(sentencesOf(validator(ListQuery), given).sort()).toEqual([
    'limit: must be at least 1',
    'order: must be one of desc, asc',
    'page: is not a known field',
    'userId: is required',
  ]);
  const limits = [101, 'ten'].flatMap((limit) =>
    sentencesOf(validator(ListQuery), { userId: 'u', limit }),
  );
  expect(limits).toEqual(['limit: must be at most 100', 'limit: must be an integer']);
});
