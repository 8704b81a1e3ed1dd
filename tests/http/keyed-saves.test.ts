import { describe, expect, test } from 'bun:test';
import type { SavedMemory } from '../../sdk/contract/memory.ts';
import { type OperationName, operations } from '../../sdk/contract/operations.ts';
import { documented, documentOf, jsonOf, misfit } from '../support/document.ts';
import { ask, bodyOf, getMemory, getPage, newUser } from '../support/http.ts';
import { requests } from '../support/operation-requests.ts';
import { withProject } from '../support/server.ts';
import { sendKeyed } from '../support/writes.ts';

/* Saves with a source and an externalId, which identify the memory to create or replace. */

const server = await withProject();

const post = (body: object) => ask(server, 'POST', '/v1/memories', { body });

test('a save returns 201 with Location and ETag, and its fields', async () => {
  const fields = { userId: newUser(), content: 'Is vegetarian', source: 'agent', externalId: 'd' };
  const times = { occurredAt: '2026-05-08', expiresAt: '2096-05-08T12:00:00.5+02:00' };
  const answer = await post({ ...fields, ...times });
  const saved = bodyOf<SavedMemory>(answer, 201);
  expect(answer.headers.get('location')).toBe(`/v1/memories/${saved.id}`);
  expect(answer.headers.get('etag')).toBe('"1"');
  expect(saved).toMatchObject({
    ...fields,
    memoryId: saved.id,
    version: 1,
    occurredAt: '2026-05-08T00:00:00.000Z',
    expiresAt: '2096-05-08T10:00:00.500Z',
  });
  const { memoryId: _, ...memory } = saved;
  expect(await getMemory(server, saved.id)).toEqual(memory);
});

test('the same source and externalId replace all but id and createdAt, with 200', async () => {
  const externalKey = { userId: newUser(), source: 'agent', externalId: 'diet' };
  const times = { occurredAt: '2026-05-08T00:00:00Z', expiresAt: '2096-05-08T00:00:00Z' };
  const first = await post({ ...externalKey, ...times, content: 'vegan', metadata: { a: 1 } });
  const former = bodyOf<SavedMemory>(first, 201);
  const answer = await post({ ...externalKey, content: 'vegetarian' });
  const replaced = bodyOf<SavedMemory>(answer, 200);
  expect(answer.headers.get('etag')).toBe('"2"');
  expect(answer.headers.get('location')).toBeNull();
  expect(replaced).toEqual({
    ...former,
    content: 'vegetarian',
    metadata: {},
    version: 2,
    occurredAt: null,
    expiresAt: null,
    updatedAt: replaced.updatedAt,
  });
  expect((await getPage(server, externalKey.userId)).items).toHaveLength(1);
});

/** The operations whose stored responses are cut down when the memory is deleted. */
const cutDown: OperationName[] = [
  ...(['save', 'update'] as const),
  ...(['ingest.support', 'ingest.document', 'ingest.chat', 'ingest.record'] as const),
];

describe('a replay', () => {
  const request = (body: object) => ({ method: 'POST', path: '/v1/memories', body });

  test('has the status, Location and ETag of the first response', async () => {
    const first = { userId: newUser(), content: 'one', externalId: 'e' };
    const key = crypto.randomUUID();
    const created = await sendKeyed(server, request(first), key);
    const replaced = await sendKeyed(server, request({ ...first, content: 'two' }), `${key}2`);
    const again = await sendKeyed(server, request(first), key);
    expect(again.text).toBe(created.text);
    expect([again.status, replaced.status]).toEqual([201, 200]);
    for (const name of ['location', 'etag']) {
      expect(again.headers.get(name)).toBe(created.headers.get(name));
      expect(created.headers.get(name)).not.toBeNull();
    }
    expect(replaced.headers.get('etag')).toBe('"2"');
  });

  test.each(cutDown)(
    'of %s matches the OpenAPI schema before and after the delete',
    async (name) => {
      const { responses } = documentOf(name);
      const body = { userId: newUser(), content: 'one' };
      const saved = bodyOf<SavedMemory>(await post(body), 201);
      const key = crypto.randomUUID();
      const { method } = operations[name];
      const target = { userId: body.userId, id: saved.id, text: '' };
      const write = { method, path: '', ...requests[name]?.(target) };
      const first = await sendKeyed(server, write, key);
      const { memoryId: id = saved.id } = JSON.parse(first.text) as { memoryId?: string };
      await ask(server, 'DELETE', `/v1/memories/${id}`);
      const again = await sendKeyed(server, write, key);
      expect(JSON.parse(again.text)).toEqual({ id, memoryId: id, deleted: true });
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expect(again.headers.get('etag')).toBeNull();
      const { schema = {} } = jsonOf(responses[again.status]);
      for (const { text } of [first, again]) expect(misfit(schema, JSON.parse(text))).toBeNull();
      expect(misfit(schema, { id })).toBeString();
    },
  );

  test("has a second schema only for responses that contain a memory's data", () => {
    const several = documented.filter(({ responses }) =>
      JSON.stringify(Object.values(responses)).includes('"anyOf"'),
    );
    expect(several).toEqual(cutDown.map(documentOf));
  });
});
