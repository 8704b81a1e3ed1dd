import { expect, test } from 'bun:test';
import { InvalidRequestError, type ListQuery, type SaveRequest } from '../../sdk/index.ts';
import { aMemory, json, startFaultServer } from '../support/fault-server.ts';
import { clientOf, failure } from './client-of.ts';

const saved = { ...aMemory, memoryId: 'mem_1' };
const page = { items: [], nextCursor: null };

test('a Date is sent as a time, in requests and in queries', async () => {
  using server = startFaultServer(json(201, saved), json(200, aMemory), json(200, page));
  const client = clientOf(server);
  const at = new Date('2026-05-08T13:56:07Z');
  await client.save({ userId: 'u', content: 'x', occurredAt: at, expiresAt: '2096-01-01' });
  await client.update('mem_1', { occurredAt: at, expiresAt: null });
  await client.list({ userId: 'u', from: at, to: '2026-06' });
  const [save, update, list] = server.requests;
  const occurredAt = '2026-05-08T13:56:07.000Z';
  expect(JSON.parse(save?.body ?? '')).toMatchObject({ occurredAt, expiresAt: '2096-01-01' });
  expect(JSON.parse(update?.body ?? '')).toEqual({ occurredAt, expiresAt: null });
  expect(list?.path).toBe(
    `/v1/memories?userId=u&from=${encodeURIComponent(occurredAt)}&to=2026-06`,
  );
});

test('an invalid Date and NaN are rejected, because null would clear a time', async () => {
  using server = startFaultServer(json(200, aMemory));
  const client = clientOf(server);
  const none = new Date('nonsense');
  const data = { summary: 'x' };
  const messages = [{ content: 'x', timestamp: none.getTime() }];
  for (const [name, call] of [
    ['expiresAt', client.update('mem_1', { expiresAt: none })],
    ['occurredAt', client.save({ userId: 'u', content: 'x', occurredAt: none })],
    ['from', client.list({ userId: 'u', from: none })],
    ['expiresAt', client.ingest.batch({ items: [{ type: 'profile', data, expiresAt: none }] })],
    ['timestamp', client.ingest.chat({ userId: 'u', messages })],
    ['score', client.save({ userId: 'u', content: 'x', metadata: { score: 1 / 0 } })],
    ['limit', client.list({ userId: 'u', limit: Number.NaN })],
  ] as const) {
    const error = await failure(call);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error.message).toBe(`cannot be sent: ${name}`);
  }
  expect(server.requests).toHaveLength(0);
});

test('metadata may have an interface type or no prototype, and undefined fields are omitted', async () => {
  interface Preferences {
    theme: string;
    sizes: number[];
  }
  using server = startFaultServer(json(201, saved), json(200, page));
  const client = clientOf(server);
  const metadata: Preferences = { theme: 'dark', sizes: [1] };
  const request: SaveRequest = { userId: 'u', content: 'x', metadata, source: undefined };
  await client.save({ ...request, externalId: undefined, occurredAt: undefined });
  const query: ListQuery = { userId: 'u', type: undefined, limit: undefined, from: undefined };
  await client.list({ ...query, metadata: undefined, order: undefined });
  await client.list({ userId: 'u', metadata: Object.assign(Object.create(null), { k: false }) });
  const [save, ...lists] = server.requests;
  expect(JSON.parse(save?.body ?? '')).toEqual({ userId: 'u', content: 'x', metadata });
  const path = '/v1/memories?userId=u';
  expect(lists.map((list) => list.path)).toEqual([path, `${path}&metadata%5Bk%5D=false`]);
});
