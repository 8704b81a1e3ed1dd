import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import {
  ask,
  bodyOf,
  getMemory,
  getPage,
  getStatus,
  ingest,
  newUser,
  whenComplete,
} from '../support/http.ts';
import { holdRecord } from '../support/queue.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

type Origin = { source?: string; externalId?: string };

async function send(userId: string, origin: Origin, text: string): Promise<string> {
  const body = { userId, ...origin, data: { text } };
  return (await ingest(server, '/v1/ingest/document', body)).memoryId;
}

describe('ingesting the same source and externalId of the same user', () => {
  test('replaces content, metadata and type, and keeps id and createdAt', async () => {
    const userId = newUser();
    const origin = { source: 'crm', externalId: 'T-1' };
    const first = { userId, ...origin, metadata: { a: 1 }, data: { text: 'old', title: 'T' } };
    const { memoryId } = await ingest(server, '/v1/ingest/document', first);
    const before = await whenComplete(server, memoryId);
    await until(() => Date.now() > Date.parse(before.updatedAt));
    const comments = [{ author: 'user', content: 'grown' }];
    const second = { userId, ...origin, metadata: { b: 2 }, data: { subject: 'S', comments } };
    const again = await ingest(server, '/v1/ingest/support', second);
    expect(again).toEqual({ memoryId, status: 'processing', ...origin });
    const after = await whenComplete(server, memoryId);
    expect(after).toEqual({
      ...before,
      type: 'ticket',
      content: 'S\n\nuser: grown',
      metadata: { subject: 'S', b: 2 },
      version: 2,
      updatedAt: expect.any(String),
    });
    expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect((await getPage(server, userId)).items).toEqual([after]);
  });

  test('changes the content immediately and sets the status to processing', async () => {
    const held = await holdRecord(server);
    const { userId, externalId } = held;
    expect(await send(userId, { externalId }, 'newer')).toBe(held.memoryId);
    expect(await getMemory(server, held.memoryId)).toMatchObject({ content: 'newer' });
    expect(await held.fail('the work on the older text')).toBe(false);
    expect(await whenComplete(server, held.memoryId)).toMatchObject({ content: 'newer' });
  });

  test('retries a failed record', async () => {
    const held = await holdRecord(server);
    await held.fail('no luck');
    expect(await getStatus(server, held.memoryId)).toMatchObject({ status: 'failed' });
    const { userId, externalId } = held;
    expect(await send(userId, { externalId }, 'again')).toBe(held.memoryId);
    await whenComplete(server, held.memoryId);
    const status = await getStatus(server, held.memoryId);
    expect(status).toMatchObject({ status: 'complete', attempts: 1, errorMessage: null });
  });

  test('replaces the content of an updated memory', async () => {
    const userId = newUser();
    const id = await send(userId, { externalId: 'e' }, 'one');
    await ask(server, 'PATCH', `/v1/memories/${id}`, { body: { content: 'two' } });
    expect(await send(userId, { externalId: 'e' }, 'three')).toBe(id);
    expect((await getMemory(server, id)).content).toBe('three');
  });

  test('creates a new memory after a delete', async () => {
    const userId = newUser();
    const id = await send(userId, { source: 's', externalId: 'e' }, 'one');
    await ask(server, 'DELETE', `/v1/memories/${id}`);
    const next = await send(userId, { source: 's', externalId: 'e' }, 'two');
    expect(next).not.toBe(id);
    expect((await getPage(server, userId)).items.map((item) => item.id)).toEqual([next]);
  });

  test('twice in one batch keeps the later record, and the items have the same id', async () => {
    const userId = newUser();
    const record = (text: string) => {
      return { type: 'document', userId, source: 's', externalId: 'e', data: { text } };
    };
    const body = { items: [record('one'), { bad: true }, record('two')] };
    const answer = await ask(server, 'POST', '/v1/ingest/batch', { body });
    const { items } = bodyOf<BatchAccepted>(answer, 202);
    expect(items.map(({ index }) => index)).toEqual([0, 2]);
    expect(items[0]?.memoryId).toBe(items[1]?.memoryId ?? '');
    const listed = (await getPage(server, userId)).items;
    expect(listed.map(({ content }) => content)).toEqual(['two']);
  });

  test('fifty times concurrently creates one memory', async () => {
    const userId = newUser();
    const sent = Array.from({ length: 50 }, (_, n) => send(userId, { externalId: 'e' }, `${n}`));
    expect(new Set(await Promise.all(sent)).size).toBe(1);
    expect((await getPage(server, userId)).items).toHaveLength(1);
  });
});

describe('another memory is created for', () => {
  test('the same externalId without a source', async () => {
    const userId = newUser();
    const alone = await send(userId, { externalId: 'e' }, 'alone');
    const sourced = await send(userId, { source: 's', externalId: 'e' }, 'sourced');
    expect(sourced).not.toBe(alone);
    expect(await send(userId, { externalId: 'e' }, 'alone again')).toBe(alone);
    expect((await getMemory(server, alone)).content).toBe('alone again');
    expect((await getMemory(server, sourced)).content).toBe('sourced');
  });

  test.each<[string, Origin, Origin]>([
    ['another source', { source: 'a', externalId: 'e' }, { source: 'b', externalId: 'e' }],
    ['another externalId', { source: 'a', externalId: 'e' }, { source: 'a', externalId: 'f' }],
    ['a different case', { source: 'a', externalId: 'e' }, { source: 'a', externalId: 'E' }],
    ['a source without an externalId', { source: 'a' }, { source: 'a' }],
    ['neither', {}, {}],
    [
      'source and externalId that are equal when joined',
      { source: 'a', externalId: 'bc' },
      { source: 'ab', externalId: 'c' },
    ],
  ])('%s', async (_, one, two) => {
    const userId = newUser();
    expect(await send(userId, one, 'x')).not.toBe(await send(userId, two, 'x'));
    expect((await getPage(server, userId)).items).toHaveLength(2);
  });

  test('the same pair of another user', async () => {
    const origin = { source: 's', externalId: 'e' };
    const [one, two] = [newUser(), newUser()];
    expect(await send(one, origin, 'x')).not.toBe(await send(two, origin, 'y'));
    expect((await getPage(server, one)).items.map(({ content }) => content)).toEqual(['x']);
  });
});
