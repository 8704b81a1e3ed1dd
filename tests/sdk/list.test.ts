import { expect, test } from 'bun:test';
import { aMemory, json, startFaultServer } from '../support/fault-server.ts';
import { clientOf } from './client-of.ts';

function page(ids: string[], nextCursor: string | null) {
  return json(200, { items: ids.map((id) => ({ ...aMemory, id })), nextCursor });
}

test('iterating list() starts at the given cursor and fetches pages on demand', async () => {
  using server = startFaultServer(page(['mem_1', 'mem_2'], 'c2'));
  for await (const { id } of clientOf(server).list({ userId: 'u-1', cursor: 'c1' })) {
    expect(id).toBe('mem_1');
    break;
  }
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/memories?userId=u-1&cursor=c1']);
});

test('awaiting export() returns one page, of a project or of a user', async () => {
  using server = startFaultServer(page(['mem_1'], 'c1'));
  const { items, nextCursor } = await clientOf(server).export();
  expect([items.map(({ id }) => id), nextCursor]).toEqual([['mem_1'], 'c1']);
  await clientOf(server).export({ userId: 'u-1', limit: 5, cursor: 'c1' });
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/export',
    '/v1/export?userId=u-1&limit=5&cursor=c1',
  ]);
});

test('list().withResponse() returns the page and its response', async () => {
  using server = startFaultServer(page(['mem_1'], null));
  const { data, response } = await clientOf(server).list({ userId: 'u-1' }).withResponse();
  expect(data.nextCursor).toBeNull();
  expect(response).toMatchObject({ status: 200, requestId: 'req_1' });
});
