import { describe, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import { getPage, ingest, newUser, whenComplete } from '../support/http.ts';
import { withProject } from '../support/server.ts';

/* Null in an optional field is equivalent to omitting the field, and so is an empty text. */

const server = await withProject();

const times = { occurredAt: null, expiresAt: null };
const nulls = { source: null, externalId: null, ...times };

const comments = [{ content: 'Help', timestamp: '2026-05-09' }];
const ticket = { subject: 'S', comments };
const chat = { messages: [{ role: 'user', content: 'Hi' }] };
const ticketTexts = ['description', 'status', 'priority'];
const documentTexts = ['title', 'mimeType', 'sourceUrl'];
const chatTexts = ['title', 'summary'];

type Endpoint = [path: string, body: { data?: object; [field: string]: unknown }, texts: string[]];
const endpoints: Endpoint[] = [
  ['/v1/ingest/support', { data: ticket }, ticketTexts],
  ['/v1/ingest/document', { data: { text: 'x' } }, documentTexts],
  ['/v1/ingest/chat', { data: chat }, chatTexts],
  ['/v1/ingest/chat', chat, []],
  ...['/v1/ingest', '/v1/ingest/batch'].flatMap((path): Endpoint[] => [
    [path, { type: 'ticket', data: ticket }, ticketTexts],
    [path, { type: 'document', data: { text: 'x' } }, documentTexts],
    [path, { type: 'conversation', data: chat }, chatTexts],
    [path, { type: 'event', data: { name: 'n' } }, []],
    [path, { type: 'profile', data: { summary: 's' } }, []],
  ]),
];

/** The properties that do not differ between two memories of the same request. */
function shared({ id: _, userId: _1, createdAt: _2, updatedAt: _3, ...rest }: Memory) {
  return rest;
}

/** Adds the optional fields, with this value in each. */
function withNone({ data, ...body }: Endpoint[1], texts: string[], none: '' | null = null) {
  const all = (names: string[]) => Object.fromEntries(names.map((name) => [name, none]));
  return { ...body, ...all(Object.keys(nulls)), ...(data && { data: { ...data, ...all(texts) } }) };
}

describe.each(endpoints)('POST %s %j', (path, body, texts) => {
  const store = async (record: object) => {
    const { memoryId } = await ingest(server, path, record);
    return whenComplete(server, memoryId);
  };

  test.each([null, ''])('treats %j as omitted', async (none) => {
    const omitted = await store({ ...body, userId: newUser() });
    const stored = await store({ ...withNone(body, texts, none), userId: newUser() });
    const isTicket = stored.type === 'ticket';
    expect(stored).toMatchObject({
      ...nulls,
      occurredAt: isTicket ? '2026-05-09T00:00:00.000Z' : null,
    });
    expect(shared(stored)).toEqual(shared(omitted));
  });

  test('replaces the times of a memory in the same way', async () => {
    const replaced = async (second: object) => {
      const first = { ...body, userId: newUser(), externalId: 'x' };
      const old = { occurredAt: '2026-05-08', expiresAt: '2999-01-01' };
      const { id } = await store({ ...first, ...old });
      const memory = await store({ ...first, ...second });
      expect(memory).toMatchObject({ id, version: 2, expiresAt: null });
      return shared(memory);
    };
    expect(await replaced({ source: null, ...times })).toEqual(await replaced({}));
  });
});

test('a save treats null as omitted, and clears the times of the memory that it replaces', async () => {
  const userId = newUser();
  const save = (fields: object) => server.client.save({ userId, content: 'x', ...fields });
  for (const saved of [await save(nulls), await save(nulls)]) expect(saved).toMatchObject(nulls);
  // Without an externalId, the second save does not replace the first memory.
  expect((await getPage(server, userId)).items).toHaveLength(2);
  const old = { occurredAt: '2026-05-08', expiresAt: '2999-01-01' };
  const first = await save({ externalId: 'x', ...old });
  expect(first).toMatchObject({ source: null, occurredAt: '2026-05-08T00:00:00.000Z' });
  const second = await save({ externalId: 'x', source: null, ...times });
  expect(second).toMatchObject({ ...times, source: null, id: first.id, version: 2 });
});
