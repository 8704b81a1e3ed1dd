import { describe, expect, test } from 'bun:test';
import { sentence } from '../../sdk/contract/errors.ts';
import { SaveRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import {
  type Validator,
  validateChat,
  validateDocument,
  validateRecord,
  validateSupport,
  validator,
} from '../../sdk/contract/validate.ts';
import { validateBatchBody } from '../../server/http/batch.ts';
import { astral, badOptionalTexts, metadataOfBytes } from '../support/inputs.ts';

const sentencesOf = (validate: Validator, value: unknown) => validate(value).map(sentence);
const messages = [{ role: 'user', content: 'c' }];

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

const chatWith = (list: object) => ({ userId: 'u', data: { messages, ...list } });

test.each<[list: string, limit: number, validate: Validator, value: object]>([
  ['items', 1_000, validateBatchBody, { items: unseenAfter(1_000) }],
  ['data.tags', 4_096, validateChat, chatWith({ tags: unseenAfter(4_096) })],
  ['data.participants', 4_096, validateChat, chatWith({ participants: unseenAfter(4_096) })],
])('what is in %s beyond the limit of %i is not read', (list, limit, validate, value) => {
  expect(sentencesOf(validate, value)).toEqual([`${list}: must have at most ${limit} items`]);
});

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

const badTime =
  'must be an RFC 3339 time, a date (YYYY-MM-DD) or an integer number of milliseconds since 1970';

describe('a timeline', () => {
  const problemsOf = (entry: object, more: object[] = []) => {
    const data = { subject: 's', comments: [{ content: 'c', ...entry }, ...more] };
    return sentencesOf(validateSupport, { userId: 'u', data });
  };
  const unpaired = 'must be valid Unicode, without lone surrogates';

  test.each([
    [{ author: 'x'.repeat(101) }, 'author: must be at most 100 characters, not 101'],
    [{ content: 1 }, 'content: must be a string, null or an array'],
    [{ content: 'a\0' }, 'content: must not contain the character U+0000'],
    [{ content: ['c'] }, 'content.0: must be an object'],
    [{ content: [{ text: 'c' }] }, 'content.0.type: is required'],
    [{ content: [{ type: '' }] }, 'content.0.type: must not be empty'],
    [{ content: [{ type: 'text', text: null }] }, 'content.0.text: must be a string'],
    [{ tool_calls: {} }, 'tool_calls: must be an array'],
    [{ tool_calls: ['c'] }, 'tool_calls.0: must be an object'],
    [{ tool_calls: [{ function: {} }] }, 'tool_calls.0.function.name: is required'],
    [{ tool_calls: [{ name: '\ud800' }] }, `tool_calls.0.name: ${unpaired}`],
    [{ tool_call_id: 1 }, 'tool_call_id: must be a string'],
    [{ name: null }, 'name: must be a string'],
    [{ tool_calls: null }, 'tool_calls: must be an array'],
    [{ role: null }, 'role: must be a string'],
    [{ author: 'user', text: 'c' }, 'text: is not a known field'],
    [{ refusal: null }, 'refusal: is not a known field'],
    [{ annotations: [] }, 'annotations: is not a known field'],
    [{ id: 'msg_1' }, 'id: is not a known field'],
    [{ author: 'user', timestamp: 'yesterday' }, `timestamp: ${badTime}`],
    [{ author: 'user', timestamp: 1.5 }, `timestamp: ${badTime}`],
    [{ author: 'user', timestamp: null }, `timestamp: ${badTime}`],
    [{ author: 'user', timestamp: '2026-02-29T00:00:00Z' }, `timestamp: ${badTime}`],
    [{ author: 'user', timestamp: 253_402_300_800_000 }, `timestamp: ${badTime}`],
  ])('rejects the entry %j', (entry, problem) => {
    expect(problemsOf(entry)).toEqual([`data.comments.0.${problem}`]);
  });

  test.each([0, -1, 1_795_168_800_000, '2028-02-29T23:59:60.123456+05:30'])(
    'accepts the timestamp %p',
    (timestamp) => {
      expect(problemsOf({ author: 'user', timestamp })).toEqual([]);
    },
  );
});

describe.each([
  ['comments', validateSupport, { subject: 's' }],
  ['messages', validateChat, {}],
] as const)('the entries of %s', (timeline, validate, data) => {
  const fieldsOf = (entries: object[]) => {
    const problems = validate({ userId: 'u', data: { ...data, [timeline]: entries } });
    return problems.map(({ field }) => field);
  };

  test.each(['author', 'role'])('have any label of at most 100 characters as %s', (speaker) => {
    const fieldsWith = (label: unknown) => fieldsOf([{ [speaker]: label, content: 'x' }]);
    for (const label of ['', 'x'.repeat(100), astral.repeat(100)]) {
      expect(fieldsWith(label)).toEqual([]);
    }
    for (const label of badOptionalTexts(100)) {
      expect(fieldsWith(label)).toEqual([`data.${timeline}.0.${speaker}`]);
    }
  });

  test('are at most 1,000', () => {
    const entries: object[] = Array(1_000).fill({ author: 'a', role: 'b', content: 'x' });
    expect(fieldsOf(entries)).toEqual([]);
    expect(fieldsOf([...entries, {}])).toEqual([`data.${timeline}`]);
  });
});

test('the first invalid part of a long list is reported', () => {
  const content: object[] = Array(90_000).fill({ type: 'image_url' });
  content.push({ type: 1 }, { type: 2 });
  const sentences = sentencesOf(validateChat, { userId: 'u', messages: [{ content }] });
  expect(sentences).toEqual(['messages.0.content.90000.type: must be a string']);
});

test.each([
  [{ text: 'x' }, 'text: is not a known field'],
  [{ refusals: null }, 'refusals: is not a known field'],
  [{ stopReason: 'end_turn' }, 'stopReason: is not a known field'],
  [{ refusal: ['x'] }, 'refusal: must be a string'],
  [{ refusal: 'a\0' }, 'refusal: must not contain the character U+0000'],
  [{ function_call: 'search' }, 'function_call: must be an object'],
  [{ function_call: { arguments: '{}' } }, 'function_call.name: is required'],
  [{ tool_call_id: 1 }, 'tool_call_id: must be a string'],
])('a message of a chat or a conversation is rejected: %j', (more, problem) => {
  const record = { userId: 'u', data: { messages: [{ content: 'c', ...more }] } };
  const sentences = [`data.messages.0.${problem}`];
  expect(sentencesOf(validateChat, record)).toEqual(sentences);
  expect(sentencesOf(validateRecord, { ...record, type: 'conversation' })).toEqual(sentences);
});

test.each([
  [{ messages }, []],
  [{ data: { messages } }, []],
  [{}, ['data: is required']],
  [{ data: { messages }, messages }, ['messages: is not a known field']],
  [{ messages, title: 't' }, ['title: is not a known field']],
  [{ messages: [] }, ['messages: must contain text']],
  [{ messages: [{ role: 'user' }] }, ['messages: must contain text']],
  [{ messages: [{ content: '' }] }, ['messages: must contain text']],
  [{ messages: [{ content: 'c', role: 1 }] }, ['messages.0.role: must be a string']],
  [{ messages: [{ content: 'c', timestamp: 'x' }] }, [`messages.0.timestamp: ${badTime}`]],
  [{ data: { messages: [{ content: null }] } }, ['data.messages: must contain text']],
  [{ data: { messages: [{ content: null }], title: '' } }, ['data.messages: must contain text']],
  [{ data: { messages: [{ content: null }], summary: 's' } }, []],
  [{ data: { messages: [], summary: 's' } }, []],
  [{ messages: [{ content: null, tool_calls: [{ name: 'n' }] }] }, []],
])('a chat sent as %j has the problems %j', (fields, sentences) => {
  expect(sentencesOf(validateChat, { userId: 'u', ...fields })).toEqual(sentences);
});

describe('a record', () => {
  const types = 'ticket, document, conversation, event, profile';

  test.each([
    [{ type: 'memory' }, `type: must be one of ${types}`],
    [{ type: 'constructor' }, `type: must be one of ${types}`],
    [
      { type: 'event', userId: 'u', data: { name: 'n', a: ['\0'] } },
      'data: must not contain the character U+0000',
    ],
  ])('is rejected: %j', (record, first) => {
    expect(sentencesOf(validateRecord, record)[0]).toBe(first);
  });

  const x = (length: number) => 'x'.repeat(length);
  const titled = { data: { text: 't', title: 'T' } };
  const rest = ',"title":"T"'.length;
  const open = { type: 'event', data: { name: 'n', a: x(10_000) }, metadata: { b: x(10_000) } };
  test.each<[what: string, bytes: number, validate: Validator, record: object]>([
    ['descriptive fields', 16_396, validateDocument, { data: { text: 't', title: x(16_384) } }],
    [
      'fields and metadata',
      16_385,
      validateDocument,
      { ...titled, metadata: metadataOfBytes(16_385 - rest) },
    ],
    ['open data and metadata', 20_015, validateRecord, open],
  ])('has one limit for its %s', (_, bytes, validate, record) => {
    const [problem] = sentencesOf(validate, { userId: 'u', ...record });
    expect(problem).toStartWith(`metadata: must be at most 16384 bytes as JSON, not ${bytes}`);
  });

  test('may have descriptive fields and metadata up to the limit', () => {
    const metadata = metadataOfBytes(16_384 - rest);
    expect(sentencesOf(validateDocument, { userId: 'u', ...titled, metadata })).toEqual([]);
  });
});
