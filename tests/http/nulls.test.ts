import { describe, expect, test } from 'bun:test';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { Memory, SavedMemory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, getPage, ingest, newUser, whenComplete } from '../support/http.ts';
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
const records: Endpoint[] = [
  ['/v1/ingest', { type: 'ticket', data: ticket }, ticketTexts],
  ['/v1/ingest', { type: 'document', data: { text: 'x' } }, documentTexts],
  ['/v1/ingest', { type: 'conversation', data: chat }, chatTexts],
  ['/v1/ingest', { type: 'event', data: { name: 'n' } }, []],
  ['/v1/ingest', { type: 'profile', data: { summary: 's' } }, []],
];
const endpoints: Endpoint[] = [
  ['/v1/ingest/support', { data: ticket }, ticketTexts],
  ['/v1/ingest/document', { data: { text: 'x' } }, documentTexts],
  ['/v1/ingest/chat', { data: chat }, chatTexts],
  ['/v1/ingest/chat', chat, []],
  ...records,
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

describe('POST /v1/memories', () => {
  const save = async (body: object) =>
    (await ask(server, 'POST', '/v1/memories', { body: { content: 'x', ...body } })) as {
      status: number;
      body: SavedMemory;
    };

  test('treats null as omitted', async () => {
    const userId = newUser();
    const answers = [await save({ userId, ...nulls }), await save({ userId, ...nulls })];
    for (const { status, body } of answers) {
      expect(status).toBe(201);
      expect(body).toMatchObject(nulls);
    }
    // Without an externalId, the second save does not replace the first memory.
    expect((await getPage(server, userId)).items).toHaveLength(2);
  });

  test('replaces the memory and clears its times', async () => {
    const externalKey = { userId: newUser(), externalId: 'x' };
    const times = { occurredAt: '2026-05-08', expiresAt: '2999-01-01' };
    const first = await save({ ...externalKey, ...times });
    expect(first.body).toMatchObject({ source: null, occurredAt: '2026-05-08T00:00:00.000Z' });
    const { status, body } = await save({ ...externalKey, ...nulls, externalId: 'x' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...nulls, externalId: 'x', id: first.body.id, version: 2 });
  });
});

test('requests of the SDK may contain null', async () => {
  const userId = newUser();
  expect(await server.client.save({ userId, content: 'x', ...nulls })).toMatchObject(nulls);
  const data = { text: 'x', title: null };
  const { memoryId } = await server.client.ingest.document({ userId, ...nulls, data });
  expect(await server.client.get(memoryId)).toMatchObject({ ...nulls, metadata: {} });
});

test('a batch treats null in its records as omitted', async () => {
  const userId = newUser();
  const items = records.map(([, body, texts]) => ({ ...withNone(body, texts), userId }));
  const answer = await ask(server, 'POST', '/v1/ingest/batch', { body: { items } });
  const { items: accepted, failed } = bodyOf<BatchAccepted>(answer, 202);
  expect(failed).toEqual([]);
  for (const [index, { memoryId }] of accepted.entries()) {
    const omitted = await ingest(server, '/v1/ingest', { ...records[index]?.[1], userId });
    expect(shared(await whenComplete(server, memoryId))).toEqual(
      shared(await whenComplete(server, omitted.memoryId)),
    );
  }
  expect(accepted).toHaveLength(records.length);
});
