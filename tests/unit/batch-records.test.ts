import { describe, expect, test } from 'bun:test';
import { type Entry, pairOf, parseRecord } from '../../cli/bulk/records.ts';

function parsed(item: unknown, type?: 'conversation') {
  const bytes = new TextEncoder().encode(JSON.stringify(item));
  return parseRecord({ where: { line: 1 }, bytes }, type) as Entry;
}

test('an empty externalId or source counts as missing', () => {
  const pair = (item: object) => pairOf(parsed({ userId: 'u', ...item }));
  expect(pair({ externalId: '' })).toBeUndefined();
  expect(pair({ externalId: '1', source: '' })).toBe(pair({ externalId: '1' }) ?? '');
});

describe('a record without a type', () => {
  const userId = 'u';
  const comments = [{ author: 'user', content: 'Hi' }];
  const messages = [{ role: 'user', content: 'Hi' }];
  const times = { occurredAt: '2026-05-08', expiresAt: '2027-05-08' };

  test.each<[type: string, data: Record<string, unknown>]>([
    ['ticket', { subject: 'S', comments }],
    ['conversation', { messages }],
    ['document', { text: 'T', title: 'Notes' }],
  ])('is recognized as a %s, with or without a data field', (type, data) => {
    const named = { userId, source: 's', externalId: '1', metadata: { a: 1 }, ...times };
    const record = { ...named, type, data };
    expect(parsed({ ...named, data }).item).toEqual(record);
    expect(parsed({ ...named, ...data }).item).toEqual(record);
  });

  test.each([
    [{ userId, data: { name: 'signed up' } }],
    [{ userId, data: { summary: 'A person' } }],
    [{ userId, data: { subject: 'S' } }],
    [{ userId, data: { comments } }],
    [{ userId, name: 'signed up' }],
    [{ userId, data: { text: 1 } }],
    [{ userId, data: null, messages }],
    [{ type: 'note', userId, messages }],
    [['messages']],
    [null],
  ])('is sent unchanged if its type is not recognized: %j', (item) => {
    expect(parsed(item).item).toEqual(item);
  });

  test('has the type that the command implies, with or without a data field', () => {
    const record = { type: 'conversation', userId, data: { messages } };
    expect(parsed({ userId, messages }, 'conversation').item).toEqual(record);
    expect(parsed({ userId, data: { messages } }, 'conversation').item).toEqual(record);
    const event = { type: 'event', userId, data: { name: 'signed up' } };
    expect(parsed(event, 'conversation').item).toEqual(event);
  });
});
