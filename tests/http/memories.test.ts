import { describe, expect, test } from 'bun:test';
import type { SavedMemory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, getMemory, getPage, newUser, save } from '../support/http.ts';
import { goodMetadata, goodTexts } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const server = await withProject();

const post = (body: object) => ask(server, 'POST', '/v1/memories', { body });

const none = { source: null, externalId: null, occurredAt: null, expiresAt: null };
const all = { source: 'agent', externalId: 'diet', occurredAt: '2026-05-08' };
const expiry = { expiresAt: '2096-05-08T12:00:00.5+02:00' };
const occurredAt = '2026-05-08T00:00:00.000Z';
const converted = { ...all, occurredAt, expiresAt: '2096-05-08T10:00:00.500Z' };

describe('POST /v1/memories', () => {
  test.each<[name: string, fields: object, stored: object]>([
    ['the required fields', {}, { metadata: {}, ...none }],
    ['all fields', { metadata: { channel: 'chat' }, ...all, ...expiry }, converted],
  ])('returns 201 with the whole memory, and its id as memoryId: %s', async (_, fields, stored) => {
    const sent = { userId: newUser(), content: 'Prefers dark mode', ...fields };
    const before = Date.now();
    const answer = await post(sent);
    const { memoryId, ...memory } = bodyOf<SavedMemory>(answer, 201);
    expect<object>(memory).toEqual({
      ...sent,
      ...stored,
      id: expect.stringMatching(/^mem_\w+$/),
      type: 'memory',
      status: 'complete',
      version: 1,
      createdAt: expect.stringMatching(time),
      updatedAt: memory.createdAt,
    });
    expect(memoryId).toBe(memory.id);
    expect(answer.headers.get('location')).toBe(`/v1/memories/${memoryId}`);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(Date.parse(memory.createdAt)).toBeWithin(before, Date.now() + 1);
    expect(await getMemory(server, memoryId)).toEqual(memory);
  });

  test.each(goodTexts(65_536))('content is returned unchanged: %s', async (_, content) => {
    const { id } = await save(server, newUser(), content);
    expect((await getMemory(server, id)).content === content).toBe(true);
  });

  test.each(goodTexts(256))('userId is returned unchanged: %s', async (_, userId) => {
    const { id } = await save(server, userId);
    expect((await getMemory(server, id)).userId).toBe(userId);
    expect((await getPage(server, userId)).items.map((item) => item.id)).toContain(id);
  });

  test.each(goodMetadata)('metadata is returned unchanged: %s', async (_, metadata) => {
    const answer = await post({ userId: newUser(), content: 'x', metadata });
    const saved = bodyOf<SavedMemory>(answer, 201);
    expect<object>(saved.metadata).toEqual(metadata);
    expect((await getMemory(server, saved.id)).metadata).toEqual(saved.metadata);
  });
});
