import { expect, test } from 'bun:test';
import type { UserRecord } from '../../sdk/contract/ingest.ts';
import { renderRecord } from '../../server/memory/render.ts';

const userId = 'u-1';

function content(record: UserRecord): string {
  return renderRecord(record, 'mem_1').content;
}

function metadata(record: UserRecord): unknown {
  return JSON.parse(renderRecord(record, 'mem_1').metadata);
}

const ticket: UserRecord = {
  type: 'ticket',
  userId,
  data: {
    subject: 'Refund',
    description: 'It never came.',
    comments: [
      { author: 'user', content: 'Where is it?' },
      { role: 'agent', content: 'On its way.', timestamp: 1_795_168_800_000 },
    ],
    status: 'open',
    priority: 'high',
  },
};

test('a ticket is rendered as its subject, its description and its comments', () => {
  expect(content(ticket)).toBe(
    'Refund\n\nIt never came.\n\nuser: Where is it?\n[2026-11-20T10:00:00Z] agent: On its way.',
  );
  expect(metadata(ticket)).toEqual({ subject: 'Refund', status: 'open', priority: 'high' });
});

test('a ticket without description and comments is rendered as its subject', () => {
  const data = { subject: 'Refund', comments: [] };
  expect(content({ type: 'ticket', userId, data })).toBe('Refund');
  expect(metadata({ type: 'ticket', userId, data })).toEqual({ subject: 'Refund' });
});

test('a document is rendered as its text, unchanged', () => {
  const text = '  \r\n\tspaces, 𝄞, and\n\n\n\nempty lines \n';
  const data = {
    text,
    title: 'Notes',
    mimeType: 'text/plain',
    sourceUrl: 'https://a.example/n',
    pageCount: 0,
  };
  const { text: _, ...descriptive } = data;
  expect(content({ type: 'document', userId, data })).toBe(text);
  expect(metadata({ type: 'document', userId, data })).toEqual(descriptive);
});

test('a conversation is rendered as its title, its summary and its messages', () => {
  const data = {
    messages: [
      { role: 'user', content: 'Hello\nthere' },
      { author: 'Ann', content: 'Hi' },
    ],
    title: 'Greeting',
    summary: 'They greet.',
    participants: ['Bo', 'Ann'],
    tags: ['short'],
  };
  expect(content({ type: 'conversation', userId, data })).toBe(
    'Greeting\n\nThey greet.\n\nuser: Hello\nthere\nAnn: Hi',
  );
  const { title, participants, tags } = data;
  expect(metadata({ type: 'conversation', userId, data })).toEqual({ title, participants, tags });
});

test('an event is rendered as its name and its other properties, one per line', () => {
  const data = { name: 'Signed up', plan: 'pro', seats: 5, trial: false, ref: null, tags: ['a'] };
  expect(content({ type: 'event', userId, data })).toBe(
    'Signed up\nplan: pro\nseats: 5\ntrial: false\nref: null\ntags: ["a"]',
  );
  const { name: _, ...properties } = data;
  expect(metadata({ type: 'event', userId, data })).toEqual(properties);
});

test('a profile is rendered as its summary and its other properties, one per line', () => {
  const data = { summary: 'Runs a shop', home: { town: 'Bern' } };
  expect(content({ type: 'profile', userId, data })).toBe('Runs a shop\nhome: {"town":"Bern"}');
  expect(metadata({ type: 'profile', userId, data })).toEqual({ home: { town: 'Bern' } });
});

test("the caller's own metadata overrides the descriptive fields", () => {
  const record = { ...ticket, metadata: { status: 'mine', extra: 1 } };
  expect(metadata(record)).toEqual({
    subject: 'Refund',
    status: 'mine',
    priority: 'high',
    extra: 1,
  });
});

test('the fields of the record become fields of the memory, and omitted fields are null', () => {
  const record = { ...ticket, source: 'zendesk', externalId: '1182' };
  const named = { id: 'mem_1', userId, type: 'ticket' } as const;
  const times = { occurredAt: 1_795_168_800_000, expiresAt: null };
  const { content: _, metadata: _json, ...fields } = renderRecord(record, 'mem_1');
  expect(fields).toEqual({ ...named, source: 'zendesk', externalId: '1182', ...times });
  expect(renderRecord(ticket, 'mem_1')).toMatchObject({ source: null, externalId: null });
});
