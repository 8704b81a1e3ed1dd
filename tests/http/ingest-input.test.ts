import { describe, expect, test } from 'bun:test';
import { ask, expectInvalid, getPage } from '../support/http.ts';
import { badMetadata, badOptionalTexts, badTexts, withValue } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

/** The user of all rejected requests. */
const userId = 'refused';
const entry = { author: 'user', content: 'Help' };
const support = { userId, data: { subject: 'S', comments: [entry] } };
const document = { userId, data: { text: 'x' } };
const chat = { userId, data: { messages: [entry] } };
const event = { userId, type: 'event', data: { name: 'n' } };
const profile = { userId, type: 'profile', data: { summary: 's' } };

const endpoints: [path: string, body: object][] = [
  ['/v1/ingest/support', support],
  ['/v1/ingest/document', document],
  ['/v1/ingest/chat', chat],
  ['/v1/ingest', event],
];

type Row = [name: string, value: unknown];
const absent: Row = ['left out', undefined];

async function expectRejected(
  path: string,
  base: object,
  field: string,
  value: unknown,
  named = field,
) {
  const body = withValue(base, field, value);
  expectInvalid(await ask(server, 'POST', path, { body }), named);
}

describe.each(endpoints)('POST %s', (path, base) => {
  test.each<Row>([
    ['null', null],
    ['a string', 'x'],
    ['a list', [base]],
  ])('returns 400 if the body is %s', async (_, body) => {
    expectInvalid(await ask(server, 'POST', path, { body }), '');
  });

  test.each([absent, ...badTexts(256)])('returns 400 if userId is %s', async (_, value) => {
    await expectRejected(path, base, 'userId', value);
  });

  test.each(badOptionalTexts(256))('returns 400 if source is %s', async (_, value) => {
    await expectRejected(path, base, 'source', value);
  });

  test.each(badOptionalTexts(256))('returns 400 if externalId is %s', async (_, value) => {
    await expectRejected(path, base, 'externalId', value);
  });

  test.each(['occurredAt', 'expiresAt'])('returns 400 if %s is not a time', async (field) => {
    for (const value of [
      'soon',
      '2026-05',
      '2026-02-30',
      '2026-13-01',
      '2026-00-01',
      '2026-05-08T10:00:00',
      0,
      {},
    ]) {
      await expectRejected(path, base, field, value);
    }
  });

  test.each(badMetadata)('returns 400 if metadata is %s', async (_, value) => {
    await expectRejected(path, base, 'metadata', value);
  });

  test.each<Row>([absent, ['null', null], ['a string', 'x'], ['a list', []]])(
    'returns 400 if data is %s',
    async (_, value) => expectRejected(path, base, 'data', value),
  );

  test.each(['id', 'content', 'createdAt', '__proto__'])(
    'returns 400 for the unknown field "%s"',
    async (field) => {
      const body = { ...base, [field]: 'x' };
      expectInvalid(await ask(server, 'POST', path, { body }), field);
    },
  );
});

describe('POST /v1/ingest', () => {
  test.each<Row>([
    absent,
    ['null', null],
    ['memory', 'memory'],
    ['unknown', 'note'],
    ['a list', []],
  ])('returns 400 if type is %s', async (_, type) =>
    expectRejected('/v1/ingest', event, 'type', type),
  );

  test.each([
    ['an event', event, 'data.name'],
    ['a profile', profile, 'data.summary'],
  ])('returns 400 if %s has no text', async (_, base, field) => {
    for (const [, value] of [absent, ...badTexts()]) {
      await expectRejected('/v1/ingest', base, field, value);
    }
  });

  test.each([event, profile])('returns 400 for invalid properties of $type', async (base) => {
    for (const [, value] of badMetadata.slice(4)) {
      await expectRejected('/v1/ingest', base, 'data.more', value, 'data');
    }
  });
});

test.each(endpoints.slice(0, 3))('%s rejects the field type', async (path, base) => {
  const body = { ...base, type: 'document' };
  expectInvalid(await ask(server, 'POST', path, { body }), 'type');
});

/** Fields of `data` that accept any text. */
const texts: [path: string, base: object, field: string][] = [
  ['/v1/ingest/support', support, 'data.subject'],
  ['/v1/ingest/document', document, 'data.text'],
];

test.each(texts)('%s %j: rejects an invalid %s', async (path, base, field) => {
  for (const [, value] of badTexts()) await expectRejected(path, base, field, value);
});

const optionalTexts: [path: string, base: object, field: string][] = [
  ['/v1/ingest/support', support, 'data.description'],
  ['/v1/ingest/support', support, 'data.status'],
  ['/v1/ingest/support', support, 'data.priority'],
  ['/v1/ingest/support', support, 'data.comments.0.name'],
  ['/v1/ingest/support', support, 'data.comments.0.tool_call_id'],
  ['/v1/ingest/document', document, 'data.title'],
  ['/v1/ingest/document', document, 'data.mimeType'],
  ['/v1/ingest/document', document, 'data.sourceUrl'],
  ['/v1/ingest/chat', chat, 'data.title'],
  ['/v1/ingest/chat', chat, 'data.summary'],
];

test.each(optionalTexts)('%s %j: rejects an invalid %s', async (path, base, field) => {
  for (const [, value] of badOptionalTexts()) await expectRejected(path, base, field, value);
});

const badContents = [1, true, {}, 'a\0', '\ud800'];
const badParts = [null, 'x', {}, { text: 'x' }, { type: 1 }, { type: 'x'.repeat(101) }];

const others: [path: string, base: object, field: string, values: unknown[]][] = [
  ['/v1/ingest/support', support, 'data.subject', [undefined]],
  ['/v1/ingest/support', support, 'data.comments', [undefined, null, {}, 'x']],
  ['/v1/ingest/support', support, 'data.comments', [Array(1_001).fill(entry)]],
  ['/v1/ingest/support', support, 'data.comments.0', [null, 'x', []]],
  ['/v1/ingest/support', support, 'data.comments.0.content', [undefined, ...badContents]],
  ['/v1/ingest/support', support, 'data.comments.0.id', ['x']],
  ['/v1/ingest/support', support, 'data.text', ['x']],
  ['/v1/ingest/document', document, 'data.text', [undefined]],
  ['/v1/ingest/document', document, 'data.pageCount', [null, -1, 1.5, '3', []]],
  ['/v1/ingest/document', document, 'data.subject', ['x']],
  ['/v1/ingest/chat', chat, 'data.messages', [undefined, null, {}, 'x', []]],
  ['/v1/ingest/chat', chat, 'data.messages', [Array(1_001).fill(entry)]],
  ['/v1/ingest/chat', chat, 'data.messages.0.content', badContents],
  ['/v1/ingest/chat', chat, 'data.messages.0.tool_calls', [{}, 'x']],
  ['/v1/ingest/chat', chat, 'data.participants', [null, 'x', {}]],
  ['/v1/ingest/chat', chat, 'data.tags', [null, 'x', {}]],
  ['/v1/ingest/chat', chat, 'data.comments', [[entry]]],
];

test.each(others)('%s %j: rejects an invalid %s', async (path, base, field, values) => {
  for (const value of values) await expectRejected(path, base, field, value);
});

test('returns 400 for an invalid part of a message', async () => {
  const field = 'data.messages.0.content';
  for (const value of badParts) {
    const body = withValue(chat, field, [{ type: 'text', text: 'x' }, value]);
    const answer = await ask(server, 'POST', '/v1/ingest/chat', { body });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(`"field":"${field}.1`);
  }
});

test.each(['participants', 'tags'])('returns 400 for an invalid item of data.%s', async (name) => {
  for (const value of [1, null, '', [], 'a\0']) {
    await expectRejected('/v1/ingest/chat', chat, `data.${name}`, ['x', value], `data.${name}.1`);
  }
});

test('no rejected request has stored anything', async () => {
  expect((await getPage(server, userId)).items).toEqual([]);
});
