import { expect, test } from 'bun:test';
import { InvalidRequestError, MemoryClient } from '../../sdk/index.ts';
import { aMemory, json, refusal, startFaultServer } from '../support/fault-server.ts';
import { clientOf, failure } from './client-of.ts';

/* Untyped values from JavaScript callers. */

const empty = json(200, { items: [], nextCursor: null });

type Call = (client: MemoryClient) => Promise<unknown>;
const nothing = undefined as never;
const none = null as never;
const map = new Map([['userId', 'u']]) as never;
const parameters = new URLSearchParams({ userId: 'u' }) as never;

/** Calls that must not be sent: a userId that is lost would make them apply to all users. */
test.each<[string, Call]>([
  ['list({ userId: undefined })', (client) => client.list({ userId: nothing })],
  ['list({ userId: null })', (client) => client.list({ userId: none })],
  ['export({ userId: undefined })', (client) => client.export({ userId: nothing })],
  ['export({ userId: null })', (client) => client.export({ userId: none })],
  ['deleteAll({ userId: undefined })', (client) => client.deleteAll({ userId: nothing })],
  ['deleteAll({ userId: null })', (client) => client.deleteAll({ userId: none })],
  ['export(null)', (client) => client.export(none)],
  ['list(null)', (client) => client.list(none)],
  ['search(null)', (client) => client.search(none)],
  ['export(Map)', (client) => client.export(map)],
  ['export(URLSearchParams)', (client) => client.export(parameters)],
])('%s is rejected before it is sent', async (_, call) => {
  using server = startFaultServer(empty);
  const error = await failure(call(clientOf(server)));
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error.message).toBe('userId must be a string');
  expect(server.requests).toHaveLength(0);
});

test('a list without a user is sent, and the service rejects it', async () => {
  using server = startFaultServer(refusal(400, 'invalid_request'));
  const list = clientOf(server).list(...([] as unknown as [never]));
  expect(await failure(list)).toBeInstanceOf(InvalidRequestError);
});

test('null options are rejected before anything is sent', async () => {
  using server = startFaultServer(json(200, aMemory));
  const client = clientOf(server);
  const query = { userId: 'u-1' };
  for (const call of [client.get('x', none), client.list(query, none)]) {
    const error = await failure(call);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error.cause).toBeInstanceOf(TypeError);
  }
  expect(server.requests).toHaveLength(0);
});

const lost: [string, object][] = [
  ['metadata[tenant]', { metadata: { tenant: undefined } }],
  ['metadata[k]', { metadata: { k: [] } }],
  ['metadata', { metadata: [] }],
  ['metadata', { metadata: null }],
  ['metadata', { metadata: new Map([['tenant', 'a']]) }],
  ['cursor', { cursor: [] }],
  ['query', { query: 'half of an emoji: \ud83d' }],
];

test.each(lost)('a %s that cannot be sent is rejected instead of omitted', async (name, query) => {
  using server = startFaultServer(empty);
  const client = clientOf(server);
  const whole = { userId: 'u-1', query: 'x', ...query } as never;
  for (const call of [client.list(whole), client.search(whole), client.export(whole)]) {
    const error = await failure(call);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error.message).toBe(`cannot be sent: ${name}`);
  }
  expect(server.requests).toHaveLength(0);
});

test('a request that is not an object is rejected before it is sent', async () => {
  using server = startFaultServer(json(200, aMemory));
  const client = clientOf(server);
  const { ingest } = client;
  const noObjects: unknown[] = [undefined, null, 'ada', [], new Map(), () => {}];
  for (const value of noObjects as never[]) {
    const writes = [client.save(value), client.update('mem_1', value), client.import(value)];
    const doors = [ingest.support(value), ingest.record(value), ingest.batch(value)];
    for (const call of [...writes, ...doors]) {
      const error = await failure(call);
      expect(error).toBeInstanceOf(InvalidRequestError);
      const message = 'the request must be an object';
      expect(error.status).toBeUndefined();
      expect(error).toMatchObject({ attempts: 0, message });
    }
  }
  expect(server.requests).toHaveLength(0);
});

test('a null signal is ignored, as fetch does', async () => {
  using server = startFaultServer(json(200, { ...aMemory, memoryId: 'mem_1' }));
  const client = clientOf(server);
  expect(await client.get('mem_1', { signal: null })).toMatchObject({ id: 'mem_1' });
  expect(await client.waitUntilComplete('mem_1', { signal: null })).toBeDefined();
});

test('a client may be constructed with null', () => {
  expect(new MemoryClient(none).baseUrl).toBe(new MemoryClient().baseUrl);
});
