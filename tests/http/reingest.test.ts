import { describe, expect, test } from 'bun:test';
import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
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
import { leaseRecord } from '../support/queue.ts';
import { withServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const server = await withServer();

type ExternalKey = { source?: string; externalId?: string };

async function send(userId: string, externalKey: ExternalKey, text: string): Promise<string> {
  const body = { userId, ...externalKey, data: { text } };
  return (await ingest(server, '/v1/ingest/document', body)).memoryId;
}

const messages = [{ role: 'user', content: 'Hi', timestamp: '2026-05-08T10:00:00Z' }];

/** The requests that ingest records: the path, and the fields of a record. */
const doors: [path: string, fields: object][] = [
  ['/v1/ingest/support', { data: { subject: 'S', status: 'open', comments: messages } }],
  ['/v1/ingest/document', { data: { text: 'T', title: 'Title' } }],
  ['/v1/ingest/chat', { messages }],
  ['/v1/ingest', { type: 'profile', data: { summary: 'S', k: 1 } }],
  ['/v1/ingest/batch', { type: 'event', data: { name: 'n', k: [1] } }],
];

describe('ingesting the same source and externalId of the same user', () => {
  test('replaces content, metadata and type, and keeps id and createdAt', async () => {
    const userId = newUser();
    const externalKey = { source: 'crm', externalId: 'T-1' };
    const first = { userId, ...externalKey, metadata: { a: 1 }, data: { text: 'old', title: 'T' } };
    const { memoryId } = await ingest(server, '/v1/ingest/document', first);
    const before = await whenComplete(server, memoryId);
    await until(() => Date.now() > Date.parse(before.updatedAt));
    const comments = [{ author: 'user', content: 'grown' }];
    const second = { userId, ...externalKey, metadata: { b: 2 }, data: { subject: 'S', comments } };
    const again = await ingest(server, '/v1/ingest/support', second);
    expect(again).toEqual({ memoryId, status: 'processing', ...externalKey });
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
    const leased = await leaseRecord(server);
    const { userId, externalId } = leased;
    expect(await send(userId, { externalId }, 'newer')).toBe(leased.memoryId);
    expect(await getMemory(server, leased.memoryId)).toMatchObject({ content: 'newer' });
    expect(await leased.fail('the work on the older text')).toBe(false);
    expect(await whenComplete(server, leased.memoryId)).toMatchObject({ content: 'newer' });
  });

  test.each(doors)('with the same %s changes nothing', async (path, fields) => {
    const externalKey = { userId: newUser(), source: 's', externalId: 'e' };
    const times = { occurredAt: '2026-05-08', expiresAt: '2096-05-08' };
    const record = { ...externalKey, ...times, metadata: { a: 1, b: 2 }, ...fields };
    const isBatch = path.endsWith('/batch');
    const send = async (sent: object) => {
      const body = isBatch ? { items: [sent] } : sent;
      const answer = await ask(server, 'POST', path, { body });
      const { items: [item] = [], ...single } = bodyOf<Partial<BatchAccepted>>(answer, 202);
      return (isBatch ? item : single) as Accepted;
    };
    const { memoryId } = await send(record);
    const before = await whenComplete(server, memoryId);
    const status = await getStatus(server, memoryId);
    for (const same of [record, { ...record, metadata: { b: 2, a: 1 } }]) {
      expect(await send(same)).toMatchObject({ memoryId, status: 'complete' });
      expect(await getMemory(server, memoryId)).toEqual(before);
      expect(await getStatus(server, memoryId)).toEqual(status);
    }
    expect(await send({ ...record, metadata: { a: 1 } })).toMatchObject({ status: 'processing' });
    expect(await whenComplete(server, memoryId)).toMatchObject({ version: 2 });
  });

  test('retries a failed record', async () => {
    const leased = await leaseRecord(server);
    await leased.fail('no luck');
    expect(await getStatus(server, leased.memoryId)).toMatchObject({ status: 'failed' });
    const { userId, externalId } = leased;
    expect(await send(userId, { externalId }, 'again')).toBe(leased.memoryId);
    await whenComplete(server, leased.memoryId);
    const status = await getStatus(server, leased.memoryId);
    expect(status).toMatchObject({ status: 'complete', attempts: 1, errorMessage: null });
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

  test.each<[string, ExternalKey, ExternalKey]>([
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
    const externalKey = { source: 's', externalId: 'e' };
    const [one, two] = [newUser(), newUser()];
    expect(await send(one, externalKey, 'x')).not.toBe(await send(two, externalKey, 'y'));
    expect((await getPage(server, one)).items.map(({ content }) => content)).toEqual(['x']);
  });
});
