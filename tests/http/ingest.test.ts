import { describe, expect, test } from 'bun:test';
import type { Accepted } from '../../sdk/contract/ingest.ts';
import type { Memory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, getMemory, getPage, ingest, newUser, whenComplete } from '../support/http.ts';
import { goodMetadata } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

type Endpoint = [
  path: string,
  type: Memory['type'],
  body: { data?: object; messages?: object; type?: string },
];

const ticket = { subject: 'Login fails', comments: [{ author: 'user', content: 'Help' }] };
const chat = { messages: [{ role: 'user', content: 'Hi' }] };
const endpoints: Endpoint[] = [
  ['/v1/ingest/support', 'ticket', { data: ticket }],
  ['/v1/ingest/document', 'document', { data: { text: 'A text' } }],
  ['/v1/ingest/chat', 'conversation', { data: chat }],
  ['/v1/ingest/chat', 'conversation', chat],
  ['/v1/ingest', 'ticket', { type: 'ticket', data: ticket }],
  ['/v1/ingest', 'document', { type: 'document', data: { text: 'A text' } }],
  ['/v1/ingest', 'conversation', { type: 'conversation', data: chat }],
  ['/v1/ingest', 'event', { type: 'event', data: { name: 'signed_up' } }],
  ['/v1/ingest', 'profile', { type: 'profile', data: { summary: 'A person' } }],
  ['/v1/ingest/batch', 'event', { type: 'event', data: { name: 'signed_up' } }],
];

const nulls = { source: null, externalId: null, occurredAt: null, expiresAt: null };
const optionalTexts: Partial<Record<Memory['type'], string[]>> = {
  ticket: ['description', 'status', 'priority'],
  document: ['title', 'mimeType', 'sourceUrl'],
  conversation: ['title', 'summary'],
};

/** Adds the optional fields, with this value in each. */
function withNone({ data, ...body }: Endpoint[2], type: Memory['type'], none: '' | null) {
  const all = (names: string[] = []) => Object.fromEntries(names.map((name) => [name, none]));
  const texts = all(optionalTexts[type]);
  return { ...body, ...all(Object.keys(nulls)), ...(data && { data: { ...data, ...texts } }) };
}

describe.each(endpoints)('POST %s (%s) %j', (path, type, body) => {
  /** Returns what two memories of equal records have in common. */
  const store = async (record: object) => {
    const { memoryId } = await ingest(server, path, { ...body, userId: newUser(), ...record });
    const { id, userId, createdAt, updatedAt, ...rest } = await whenComplete(server, memoryId);
    return rest;
  };

  test.each([null, ''] as const)('treats %j as omitted', async (none) => {
    const stored = await store(withNone(body, type, none));
    expect(stored).toMatchObject(nulls);
    expect(stored).toEqual(await store({}));
  });

  test('returns 202, creates the memory and completes it; the same again changes nothing', async () => {
    const [source, externalId] = ['crm', 'x-1'];
    const metadata = { b: 1, a: 2 };
    const times = { occurredAt: '2026-05-08', expiresAt: '2999-01-01T01:00:00+01:00' };
    const sent = { ...body, userId: newUser(), source, externalId, metadata, ...times };
    const accepted = await ingest(server, path, sent);
    const { memoryId } = accepted;
    const isBatch = path.endsWith('/batch');
    const names = isBatch ? { index: 0 } : { source, externalId };
    const id = expect.stringMatching(/^mem_\w+$/);
    expect<object>(accepted).toEqual({ memoryId: id, status: 'processing', ...names });
    const atOnce = await getMemory(server, memoryId);
    const listed = (await getPage(server, sent.userId)).items.map(({ id }) => id);
    expect(listed).toEqual([memoryId]);
    const done = await whenComplete(server, memoryId);
    const { status, updatedAt, ...rest } = done;
    expect(atOnce).toMatchObject(rest);
    expect(done).toMatchObject({
      ...{ id: memoryId, userId: sent.userId, type, source, externalId, metadata },
      occurredAt: '2026-05-08T00:00:00.000Z',
      expiresAt: '2999-01-01T00:00:00.000Z',
    });
    const again = await ingest(server, path, sent);
    expect<object>(again).toEqual({ memoryId, status: 'complete', ...names });
    expect(await getMemory(server, memoryId)).toEqual(done);
  });
});

const call = { function: { name: 'search' } };
const timed = [
  { author: 'user', content: 'one\ntwo', timestamp: 1_795_000_000_000, name: '', tool_call_id: '' },
  { role: 'Agent Smith', content: 'three', timestamp: '2026-11-20T10:00:00Z' },
];
const toolCall = [
  { role: 'user', content: [{ type: 'text', text: 'Look' }, { type: 'image_url' }] },
  { role: 'user', content: null },
  { role: 'assistant', content: '', tool_calls: [call] },
  { role: 'tool', author: 'search', tool_call_id: 'c', name: 'n', content: 'found' },
  { content: 'Hello' },
];
const calls =
  'user: Look\n[image_url]\nassistant: [tool call: search]\nsearch: found\nunknown: Hello';
const timeline =
  'S\n\nD1\nD2\n\n[2026-11-18T11:06:40Z] user: one\ntwo\n[2026-11-20T10:00:00Z] Agent Smith: three';
const state = { status: 'open', priority: 'high' };
const about = { title: 'T', summary: 'Sum', participants: ['a', 'b'], tags: ['x'] };
const page = { title: 'T', mimeType: 'text/html', sourceUrl: 'https://a.example', pageCount: 3 };
const properties = { n: 1.5, ok: true, none: null, l: [1, 'a'], o: { k: 'v' } };

/** Record data and the content rendered from it. */
const renderings: [type: string, data: object, content: string][] = [
  ['ticket', ticket, 'Login fails\n\nuser: Help'],
  ['ticket', { ...state, subject: 'S', description: 'D1\nD2', comments: timed }, timeline],
  ['ticket', { subject: 'S', comments: [] }, 'S'],
  ['document', { text: ' \n# T\r\n\r\n\r\nend \n', title: 'T' }, ' \n# T\r\n\r\n\r\nend \n'],
  ['conversation', chat, 'user: Hi'],
  ['conversation', { ...chat, ...about }, 'T\n\nSum\n\nuser: Hi'],
  ['conversation', { title: '', messages: toolCall }, calls],
  ['conversation', { summary: 'Sum', ...chat }, 'Sum\n\nuser: Hi'],
  ['event', { name: 'signed_up' }, 'signed_up'],
  [
    'event',
    { plan: 'pro "x"', name: 'bought', ...properties },
    'bought\nplan: pro "x"\nn: 1.5\nok: true\nnone: null\nl: [1,"a"]\no: {"k":"v"}',
  ],
  ['profile', { summary: 'A person', city: 'Oslo', age: 40 }, 'A person\ncity: Oslo\nage: 40'],
];

test('the response to a single record has the URL of its status', async () => {
  const body = { userId: newUser(), data: { text: 'x' } };
  const answer = await ask(server, 'POST', '/v1/ingest/document', { body });
  const { memoryId } = bodyOf<Accepted>(answer, 202);
  expect(answer.headers.get('location')).toBe(`/v1/memories/${memoryId}/status`);
});

describe('the content of an ingested memory', () => {
  test.each(renderings)('is rendered from a %s: %j', async (type, data, content) => {
    const { memoryId } = await ingest(server, '/v1/ingest', { userId: newUser(), type, data });
    expect((await getMemory(server, memoryId)).content).toBe(content);
  });
});

test.each(endpoints)('POST %s (%s) stores no expired record', async (...given) => {
  const [path, , body] = given;
  const sent = { ...body, expiresAt: '2020-01-01', userId: newUser() };
  const { memoryId } = await ingest(server, path, sent);
  expect((await ask(server, 'GET', `/v1/memories/${memoryId}`)).status).toBe(404);
  expect((await getPage(server, sent.userId)).items).toEqual([]);
});

const messageAt = (timestamp: string | number, content = 'Hi') => ({ content, timestamp });
const late = ['2019-05-09', Date.parse('2019-05-10'), '2019-05-08'].map((at) => messageAt(at));
const comments = { data: { subject: 'S', comments: late } };
const skipped = [messageAt(0), messageAt(1, '')];

test.each<[what: string, type: string, fields: object, occurredAt: string | null]>([
  ['the latest message', 'conversation', { data: { messages: late } }, '2019-05-10'],
  ['the latest comment', 'ticket', comments, '2019-05-10'],
  ['a message with text', 'conversation', { data: { messages: skipped } }, '1970-01-01'],
  ['the record', 'ticket', { ...comments, occurredAt: '2018-01-01' }, '2018-01-01'],
  ['the comment if it is null', 'ticket', { ...comments, occurredAt: null }, '2019-05-10'],
  ['none without timestamps', 'conversation', { data: chat }, null],
])('occurredAt is the time of %s (%s)', async (_, type, fields, occurredAt) => {
  const body = { userId: newUser(), type, ...fields };
  const { memoryId } = await ingest(server, '/v1/ingest', body);
  const time = occurredAt === null ? null : `${occurredAt}T00:00:00.000Z`;
  expect((await getMemory(server, memoryId)).occurredAt).toBe(time);
});

/** The fields of the data that become metadata. */
const descriptions: [type: string, data: object, metadata: object][] = [
  ['ticket', { ...ticket, ...state, description: 'D' }, { ...state, subject: 'Login fails' }],
  ['ticket', ticket, { subject: 'Login fails' }],
  ['document', { ...page, text: 'x' }, page],
  ['conversation', { ...chat, ...about }, { title: 'T', participants: ['a', 'b'], tags: ['x'] }],
  ['event', { name: 'n', plan: 'pro', deep: { l: [1] } }, { plan: 'pro', deep: { l: [1] } }],
  ['profile', { summary: 's', city: 'Oslo' }, { city: 'Oslo' }],
];

describe('metadata', () => {
  test.each(descriptions)(
    'contains the descriptive fields of a %s, except where the caller has set them: %j',
    async (type, data, metadata) => {
      const [first = ''] = Object.keys(metadata);
      const own = { [first]: { own: true }, other: 1 };
      for (const given of [{}, own]) {
        const body = { userId: newUser(), type, data, metadata: given };
        const { memoryId } = await ingest(server, '/v1/ingest', body);
        const stored: object = (await getMemory(server, memoryId)).metadata;
        expect(stored).toEqual({ ...metadata, ...given });
      }
    },
  );

  test.each(goodMetadata)('is returned unchanged: %s', async (_, metadata) => {
    const body = { userId: newUser(), metadata, data: { text: 'x' } };
    const { memoryId } = await ingest(server, '/v1/ingest/document', body);
    expect((await getMemory(server, memoryId)).metadata as object).toEqual(metadata);
  });
});
