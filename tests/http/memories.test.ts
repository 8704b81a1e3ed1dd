import { describe, expect, test } from 'bun:test';
import type { Memory, SavedMemory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, expectError, getMemory, getPage, newUser, save } from '../support/http.ts';
import { goodMetadata, goodTexts } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';
import { until } from '../support/until.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const server = await withProject();

function patch(id: string, body: object) {
  return ask(server, 'PATCH', `/v1/memories/${id}`, { body });
}

describe('POST /v1/memories', () => {
  test('returns 201 with the whole memory, and its id as memoryId', async () => {
    const userId = newUser();
    const sent = { userId, content: 'Prefers dark mode', metadata: { channel: 'chat' } };
    const before = Date.now();
    const answer = await ask(server, 'POST', '/v1/memories', { body: sent });
    const { id, createdAt } = bodyOf<SavedMemory>(answer, 201);
    expect(answer.body).toEqual({
      ...sent,
      id: expect.stringMatching(/^mem_\w+$/),
      memoryId: id,
      type: 'memory',
      source: null,
      externalId: null,
      status: 'complete',
      version: 1,
      occurredAt: null,
      expiresAt: null,
      createdAt: expect.stringMatching(time),
      updatedAt: createdAt,
    });
    expect(Date.parse(createdAt)).toBeWithin(before, Date.now() + 1);
  });

  test('creates two memories from the same body without an idempotency key', async () => {
    const userId = newUser();
    const [one, two] = [await save(server, userId), await save(server, userId)];
    expect(one.id).not.toBe(two.id);
    expect((await getPage(server, userId)).items).toHaveLength(2);
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
    const body = { userId: newUser(), content: 'x', metadata };
    const answer = await ask(server, 'POST', '/v1/memories', { body });
    const saved = bodyOf<SavedMemory>(answer, 201);
    expect(saved.metadata).toEqual(body.metadata as Memory['metadata']);
    expect((await getMemory(server, saved.id)).metadata).toEqual(saved.metadata);
  });
});

test('HEAD /v1/memories/:id returns the status without a body', async () => {
  const { id } = await save(server, newUser());
  const answer = await ask(server, 'HEAD', `/v1/memories/${id}`);
  expect(answer).toMatchObject({ status: 200, text: '' });
});

test('PATCH /v1/memories/:id returns 200 with the new content, and keeps the metadata if none is sent', async () => {
  const body = { userId: newUser(), content: 'old', metadata: { a: 1 } };
  const saved = bodyOf<SavedMemory>(await ask(server, 'POST', '/v1/memories', { body }), 201);
  const { memoryId, updatedAt: _, ...kept } = saved;
  await until(() => Date.now() > Date.parse(saved.createdAt));
  const updated = bodyOf<Memory>(await patch(memoryId, { content: 'new' }), 200);
  const changed = { content: 'new', version: 2, updatedAt: expect.stringMatching(time) };
  expect(updated).toEqual({ ...kept, ...changed });
  expect(Date.parse(updated.updatedAt)).toBeGreaterThan(Date.parse(saved.createdAt));
  expect(await getMemory(server, memoryId)).toEqual(updated);
  expect((await getPage(server, body.userId)).items).toEqual([updated]);
});

test('DELETE /v1/memories/:id returns 204 without a body, and no read finds the memory', async () => {
  const userId = newUser();
  const { id } = await save(server, userId);
  const path = `/v1/memories/${id}`;
  const answer = await ask(server, 'DELETE', path);
  expect(answer).toMatchObject({ status: 204, text: '' });
  expect(answer.headers.get('content-type')).toBeNull();
  expectError(await ask(server, 'GET', path), 404, 'not_found');
  expectError(await ask(server, 'GET', `${path}/status`), 404, 'not_found');
  expectError(await patch(id, { content: 'x' }), 404, 'not_found');
  expectError(await ask(server, 'DELETE', path), 404, 'not_found');
  expect((await getPage(server, userId)).items).toEqual([]);
});
