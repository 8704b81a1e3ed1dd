import { describe, expect, test } from 'bun:test';
import type { UserRecord } from '../../sdk/contract/ingest.ts';
import type { Message } from '../../sdk/contract/timeline.ts';
import { renderRecord } from '../../server/memory/render.ts';

const userId = 'u-1';

function recordOf(messages: Message[]): UserRecord {
  return { type: 'conversation', userId, data: { messages } };
}

function rendered(...messages: Message[]): string {
  return renderRecord(recordOf(messages), 'mem_1').content;
}

describe('the timestamp of an entry', () => {
  test.each<[timestamp: string | number, shown: string]>([
    ['2019-05-08T13:56:07Z', '2019-05-08T13:56:07Z'],
    ['2019-05-08T13:56:07.250Z', '2019-05-08T13:56:07.250Z'],
    [0, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [1_557_323_767_000, '2019-05-08T13:56:07Z'],
  ])('%p is rendered as %s, before the author', (timestamp, shown) => {
    const entry = { author: 'Ana', content: 'Hi', timestamp };
    expect(rendered(entry)).toBe(`[${shown}] Ana: Hi`);
  });
});

describe('the label of an entry', () => {
  test.each([
    [{ author: 'Ana', role: 'user' }, 'Ana'],
    [{ role: 'user' }, 'user'],
    [{ author: '', role: 'user' }, 'user'],
    [{ author: '', role: '' }, 'unknown'],
    [{}, 'unknown'],
    [{ role: 'user', name: 'Ana' }, 'user'],
    [{ name: 'Ana' }, 'unknown'],
  ])('of %j is %s', (fields, label) => {
    expect(rendered({ ...fields, content: 'Hi' })).toBe(`${label}: Hi`);
  });
});

describe("a message's content", () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.example/i.png' } };

  test.each<[content: Message['content'], shown: string]>([
    [[{ type: 'text', text: 'one' }], 'one'],
    [
      [{ type: 'text', text: 'one' }, image, { type: 'output_text', text: 'two' }],
      'one\n[image_url]\ntwo',
    ],
    [[{ type: 'text', text: '' }, image, { type: 'text' }], '[image_url]'],
  ])('%j is rendered as %j', (content, shown) => {
    expect(rendered({ role: 'user', content })).toBe(`user: ${shown}`);
  });

  test('is followed by the tool calls', () => {
    const tool_calls = [
      { id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } },
      { id: 'c2', type: 'custom', custom: { name: 'shell', input: 'ls' } },
      { id: 'c3', name: 'lookup', args: {} },
      { id: 'c4' },
    ];
    const calls =
      '[tool call: search]\n[tool call: shell]\n[tool call: lookup]\n[tool call: unknown]';
    expect(rendered({ role: 'assistant', content: 'Wait.', tool_calls })).toBe(
      `assistant: Wait.\n${calls}`,
    );
    expect(rendered({ role: 'assistant', content: null, tool_calls })).toBe(`assistant: ${calls}`);
  });

  test('is skipped if it has neither text nor tool calls', () => {
    const empty: Message['content'][] = ['', ' \n', null, [], [{ type: 'text', text: '' }]];
    const messages = empty.map((content) => ({ role: 'assistant', content, tool_calls: [] }));
    const shown = { role: 'tool', content: 'Hi', tool_call_id: 'c1' };
    expect(rendered(...messages, shown, ...messages)).toBe('tool: Hi');
  });
});

describe('occurredAt', () => {
  const messageAt = (timestamp: string | number, content = 'Hi') => ({
    role: 'user',
    content,
    timestamp,
  });
  const timesOf = (record: UserRecord) => {
    const { occurredAt, expiresAt } = renderRecord(record, 'mem_1');
    return { occurredAt, expiresAt };
  };

  test("is a timeline's latest timestamp, regardless of its position", () => {
    const messages = [
      messageAt('2019-05-09'),
      messageAt(Date.parse('2019-05-10')),
      messageAt('2019-05-08'),
    ];
    const occurredAt = Date.parse('2019-05-10');
    expect(timesOf(recordOf(messages))).toEqual({ occurredAt, expiresAt: null });
    const data = { subject: 'S', comments: messages };
    expect(timesOf({ type: 'ticket', userId, data })).toEqual({ occurredAt, expiresAt: null });
  });

  test('ignores messages that are skipped', () => {
    expect(timesOf(recordOf([messageAt(0), messageAt(1, '')])).occurredAt).toBe(0);
  });

  test('is the value sent with the record, if present', () => {
    const record = recordOf([messageAt('2019-05-09')]);
    const times = { occurredAt: '2018-01-01', expiresAt: '2030-01-01T00:00:00+01:00' };
    expect(timesOf({ ...record, ...times })).toEqual({
      occurredAt: Date.parse('2018-01-01'),
      expiresAt: Date.parse('2029-12-31T23:00:00Z'),
    });
  });

  test('is null without timestamps', () => {
    expect(timesOf(recordOf([{ role: 'user', content: 'Hi' }])).occurredAt).toBeNull();
    expect(timesOf({ type: 'document', userId, data: { text: 'T' } }).occurredAt).toBeNull();
  });
});

describe('an empty optional string', () => {
  const ids = { source: '', externalId: '' };

  test('counts as missing', () => {
    const comments = [{ author: 'user', content: 'Hi' }];
    const data = { subject: 'S', comments, description: '', status: '', priority: '' };
    const memory = renderRecord({ type: 'ticket', userId, ...ids, data }, 'mem_1');
    expect(memory).toMatchObject({ content: 'S\n\nuser: Hi', source: null, externalId: null });
    expect(JSON.parse(memory.metadata)).toEqual({ subject: 'S' });
  });

  test('counts as missing in a document and a conversation as well', () => {
    const data = { text: 'T', title: '', mimeType: '', sourceUrl: '', pageCount: 0 };
    const document = renderRecord({ type: 'document', userId, data }, 'mem_1');
    expect(JSON.parse(document.metadata)).toEqual({ pageCount: 0 });
    const messages = [{ role: 'user', content: 'Hi' }];
    const titled = { messages, title: '', summary: '' };
    const chat = renderRecord({ type: 'conversation', userId, data: titled }, 'mem_1');
    expect(chat.content).toBe('user: Hi');
    expect(JSON.parse(chat.metadata)).toEqual({});
  });
});
