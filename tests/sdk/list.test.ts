import { expect, test } from 'bun:test';
import { NotFoundError, ServerError } from '../../sdk/index.ts';
import { aMemory, json, refusal, startFaultServer } from '../support/fault-server.ts';
import { clientOf, failure } from './client-of.ts';

function page(ids: string[], nextCursor: string | null) {
  return json(200, { items: ids.map((id) => ({ ...aMemory, id })), nextCursor });
}

test('awaiting list() returns one page', async () => {
  using server = startFaultServer(page(['mem_1'], 'c 1'));
  const query = { userId: 'u&1', limit: 1, order: 'asc' } as const;
  const { items, nextCursor } = await clientOf(server).list(query);
  expect(items.map(({ id }) => id)).toEqual(['mem_1']);
  expect(nextCursor).toBe('c 1');
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/memories?userId=u%261&limit=1&order=asc',
  ]);
});

test('iterating list() yields every memory of every page', async () => {
  using server = startFaultServer(
    page(['mem_1', 'mem_2'], 'c1'),
    page([], 'c2'),
    page(['mem_3'], null),
  );
  const ids: string[] = [];
  for await (const { id } of clientOf(server).list({ userId: 'u-1', limit: 2 })) ids.push(id);
  expect(ids).toEqual(['mem_1', 'mem_2', 'mem_3']);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/memories?userId=u-1&limit=2',
    '/v1/memories?userId=u-1&limit=2&cursor=c1',
    '/v1/memories?userId=u-1&limit=2&cursor=c2',
  ]);
});

test('iterating list() starts at the given cursor and fetches pages on demand', async () => {
  using server = startFaultServer(page(['mem_1', 'mem_2'], 'c2'));
  for await (const { id } of clientOf(server).list({ userId: 'u-1', cursor: 'c1' })) {
    expect(id).toBe('mem_1');
    break;
  }
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/memories?userId=u-1&cursor=c1']);
});

test('iterating list() sends the filters with the request for every page', async () => {
  using server = startFaultServer(page(['mem_1'], 'c1'), page(['mem_2'], null));
  const query = { userId: 'u-1', type: 'event', metadata: { plan: 'pro' } } as const;
  const ids: string[] = [];
  for await (const { id } of clientOf(server).list(query)) ids.push(id);
  expect(ids).toEqual(['mem_1', 'mem_2']);
  const first = '/v1/memories?userId=u-1&type=event&metadata%5Bplan%5D=pro';
  expect(server.requests.map(({ path }) => path)).toEqual([first, `${first}&cursor=c1`]);
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

test('iterating export() yields every memory of every page', async () => {
  using server = startFaultServer(page(['mem_1'], 'c1'), page([], 'c2'), page(['mem_2'], null));
  const ids: string[] = [];
  for await (const { id } of clientOf(server).export()) ids.push(id);
  expect(ids).toEqual(['mem_1', 'mem_2']);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/export',
    '/v1/export?cursor=c1',
    '/v1/export?cursor=c2',
  ]);
});

test.each([
  ['a cursor', ['a', 'a']],
  ['a cycle', ['a', 'b', 'c', 'd', 'e', 'f', 'b', 'c', 'd', 'e', 'f']],
])('iterating export() ends with an error if the service repeats %s', async (_, cursors) => {
  const pages = Array.from({ length: 4 }, () => cursors.map((one) => page(['mem_1'], one))).flat();
  using server = startFaultServer(page(['mem_1'], 'first'), ...pages);
  const walk = async () => {
    for await (const _one of clientOf(server).export());
  };
  const error = await failure(walk());
  expect(error).toBeInstanceOf(ServerError);
  expect(error.message).toBe('the service returned a cursor twice');
  expect(server.requests.length).toBeLessThan(24);
});

test('iterating list() throws if a page fails, after yielding the earlier memories', async () => {
  using server = startFaultServer(page(['mem_1'], 'c1'), refusal(404, 'not_found'));
  const ids: string[] = [];
  const walk = async () => {
    for await (const { id } of clientOf(server).list({ userId: 'u-1' })) ids.push(id);
  };
  expect(await failure(walk())).toBeInstanceOf(NotFoundError);
  expect(ids).toEqual(['mem_1']);
});

test('list().withResponse() returns the page and its response', async () => {
  using server = startFaultServer(page(['mem_1'], null));
  const { data, response } = await clientOf(server).list({ userId: 'u-1' }).withResponse();
  expect(data.nextCursor).toBeNull();
  expect(response).toMatchObject({ status: 200, requestId: 'req_1' });
});
