import { describe, expect, test } from 'bun:test';
import type { ErrorBody } from '../../sdk/contract/errors.ts';
import { ask, askRaw, expectInvalid, getMemory, getPage, newUser, save } from '../support/http.ts';
import { badMetadata, badOptionalTexts, badTexts, withValue } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

/** The user of all rejected requests. */
const userId = 'refused';
const memory = { userId, content: 'x' };
const entry = { author: 'user', content: 'Help' };
const support = { userId, data: { subject: 'S', comments: [entry] } };
const document = { userId, data: { text: 'x' } };
const lists = { participants: ['x', 'y'], tags: ['x', 'y'] };
const chat = { userId, data: { messages: [entry], ...lists } };
const event = { userId, type: 'event', data: { name: 'n' } };
const profile = { userId, type: 'profile', data: { summary: 's' } };

const [texts, optionalTexts] = [badTexts(), badOptionalTexts()];
const [names, optionalNames] = [badTexts(256), badOptionalTexts(256)];
const noDays = ['2026-02-30', '2026-13-01', '2026-00-01'];
const times = ['soon', '2026-05', ...noDays, '2026-05-08T10:00:00', 0, 1.7e12, true, [], {}];

async function expectRejected(method: string, path: string, body: unknown, field: string) {
  const answer = await ask(server, method, path, { body });
  expect({ status: answer.status, body }).toEqual({ status: 400, body });
  expectInvalid(answer, field);
  return answer.body as ErrorBody;
}

type Rejected = [field: string, values: unknown[]];
const ofTexts = (field: string): Rejected => [field, optionalTexts];

/** Expects that each value of the field is rejected. */
async function expectEach(method: string, path: string, base: object, ...[field, bad]: Rejected) {
  for (const value of bad) {
    await expectRejected(method, path, withValue(base, field, value), field);
  }
}

const common: Rejected[] = [
  ['userId', [undefined, ...names]],
  ['source', optionalNames],
  ['externalId', optionalNames],
  ['occurredAt', times],
  ['expiresAt', times],
  ['metadata', badMetadata],
];
const contents = [1, true, {}, 'a\0', '\ud800'];

const noData: Rejected = ['data', [undefined, null, 'x', []]];
const optionalOfSave = ['source', 'externalId', 'occurredAt', 'expiresAt'];
const ofSave: Rejected[] = [
  ['content', [undefined, ...badTexts(65_536)]],
  ...optionalOfSave.map((name): Rejected => [name, ['']]),
];
const ofSupport: Rejected[] = [
  ['data.subject', [undefined, ...texts]],
  ...['data.description', 'data.status', 'data.priority'].map(ofTexts),
  ['data.comments', [undefined, null, {}, 'x', Array(1_001).fill(entry)]],
  ['data.comments.0', [null, 'x', []]],
  ['data.comments.0.content', [undefined, ...contents]],
  ...['data.comments.0.name', 'data.comments.0.tool_call_id'].map(ofTexts),
  ...['data.comments.0.id', 'data.text', 'content'].map((name): Rejected => [name, ['x']]),
];
const ofDocument: Rejected[] = [
  ['data.text', [undefined, ...texts]],
  ...['data.title', 'data.mimeType', 'data.sourceUrl'].map(ofTexts),
  ['data.pageCount', [null, -1, 1.5, '3', []]],
  ['data.subject', ['x']],
];
const ofChat: Rejected[] = [
  ...['data.title', 'data.summary'].map(ofTexts),
  ['data.messages', [undefined, null, {}, 'x', [], Array(1_001).fill(entry)]],
  ['data.messages.0.content', contents],
  ['data.messages.0.tool_calls', [{}, 'x']],
  ...['data.participants', 'data.tags'].flatMap((name): Rejected[] => [
    [name, [null, 'x', {}]],
    [`${name}.1`, [1, null, '', [], 'a\0']],
  ]),
  ['data.comments', [[entry]]],
];
const type: Rejected = ['type', ['document']];
const ofRecord: Rejected[] = [
  ['data.name', [undefined, ...texts]],
  ['type', [undefined, null, 'memory', 'note', []]],
];
const endpoints: [path: string, body: object, fields: Rejected[]][] = [
  ['/v1/memories', memory, ofSave],
  ['/v1/ingest/support', support, [noData, ...ofSupport, type]],
  ['/v1/ingest/document', document, [noData, ...ofDocument, type]],
  ['/v1/ingest/chat', chat, [noData, ...ofChat, type]],
  ['/v1/ingest', event, [noData, ...ofRecord]],
];

describe.each(endpoints)('POST %s', (path, base, fields) => {
  test.each([...common, ...fields])('rejects an invalid %s', (field, bad) =>
    expectEach('POST', path, base, field, bad),
  );

  test('rejects a body that is not an object', async () => {
    for (const body of [null, 'x', 1, true, [base]]) {
      const { message } = await expectRejected('POST', path, body, '');
      expect(message).toBe('the body must be an object');
    }
  });

  test.each(['id', 'memoryId', 'version', 'status', 'createdAt', '', 'USERID', '__proto__'])(
    'rejects the unknown field "%s"',
    (field) => expectRejected('POST', path, { ...base, [field]: 'x' }, field),
  );
});

test('the properties of events and profiles, and the text of a profile, are checked', async () => {
  await expectEach('POST', '/v1/ingest', profile, 'data.summary', [undefined, ...texts]);
  for (const base of [event, profile]) {
    for (const value of badMetadata.slice(4)) {
      const body = withValue(base, 'data.more', value);
      await expectRejected('POST', '/v1/ingest', body, 'data');
    }
  }
});

test('messages beside the data are rejected by every endpoint but that of chats', async () => {
  const body = { userId, messages: [entry] };
  await expectRejected('POST', '/v1/ingest/support', body, 'data');
  await expectRejected('POST', '/v1/ingest', { ...body, type: 'conversation' }, 'data');
});

test('every invalid field is listed, with the first one in the message', async () => {
  const body = { content: '', metadata: [], more: 1 };
  const answer = await ask(server, 'POST', '/v1/memories', { body });
  for (const field of ['userId', 'content', 'metadata', 'more']) expectInvalid(answer, field);
  const { message, details } = answer.body as ErrorBody;
  expect(details).toHaveLength(4);
  expect(message).toBe(`${details?.[0]?.field}: ${details?.[0]?.message}`);
});

test.each(['1e400', '9007199254740993', '[-1234567890123456789]'])(
  'the number %s, which a double cannot hold, is rejected, and nothing was stored',
  async (n) => {
    const body = `{"userId":"${userId}","content":"x","metadata":{"n":${n}}}`;
    expectInvalid(await askRaw(server, 'POST', '/v1/memories', body), 'metadata');
    expect((await getPage(server, userId)).items).toEqual([]);
  },
);

test('zeros before a number are invalid JSON', async () => {
  const body = `{"userId":"${newUser()}","content":"x","metadata":{"n":0000000000000001}}`;
  const answer = await askRaw(server, 'POST', '/v1/memories', body);
  expect(answer.body).toMatchObject({ message: 'the request body is not valid JSON' });
});

test('numbers with many digits are accepted if they are returned unchanged', async () => {
  const whole = '9007199254740992,-1234567890123456800';
  const numbers = `[${whole},0.1234567890123456,12345678901234567.5,1e+00000000000000001]`;
  const body = `{"userId":"${newUser()}","content":"x","metadata":{"n":${numbers}}}`;
  const answer = await askRaw(server, 'POST', '/v1/memories', body);
  expect(answer.body).toMatchObject({ metadata: { n: JSON.parse(numbers) } });
});

test('a record of a batch fails alone if it contains a number that a double cannot hold', async () => {
  const record = (n: string) => `{"type":"event","userId":"u","data":{"name":"paid","order":${n}}}`;
  // A large body is parsed item by item.
  for (const spaces of [0, 70_000]) {
    const padding = ' '.repeat(spaces);
    const body = `{"items":[${record('12345678901234567')},${padding}${record('1')}]}`;
    const answer = await askRaw(server, 'POST', '/v1/ingest/batch', body);
    expect(answer.body).toMatchObject({ accepted: 1, failed: [{ index: 0 }] });
  }
});

describe('PATCH /v1/memories/:id', async () => {
  const { id } = await save(server, newUser(), 'unchanged');
  const path = `/v1/memories/${id}`;

  test.each<Rejected>([
    ['content', badTexts(65_536)],
    ['metadata', badMetadata],
    ['occurredAt', ['', ...times]],
    ['expiresAt', ['', ...times]],
  ])('rejects an invalid %s', (field, bad) =>
    expectEach('PATCH', path, { content: 'x' }, field, bad),
  );

  test('names the possible fields if none is set, but not if the body is no object', async () => {
    const fields = ['content', 'metadata', 'occurredAt', 'expiresAt'];
    for (const body of [null, 'x', 1, true, [{}], []]) {
      const { message } = await expectRejected('PATCH', path, body, '');
      expect(message).not.toContain('occurredAt');
    }
    const { message } = await expectRejected('PATCH', path, {}, '');
    for (const field of fields) expect(message).toContain(field);
  });

  test.each(['id', 'userId', 'type', 'source', 'externalId', 'version', 'status'])(
    'rejects the unknown field "%s"',
    (field) => expectRejected('PATCH', path, { content: 'x', [field]: 'x' }, field),
  );

  test('changes nothing if it is rejected', async () => {
    expect(await getMemory(server, id)).toMatchObject({ content: 'unchanged', metadata: {} });
  });
});
