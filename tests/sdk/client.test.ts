import { afterEach, expect, test } from 'bun:test';
import { AuthenticationError, InvalidRequestError, MemoryClient } from '../../sdk/index.ts';
import { aMemory, html, json, startFaultServer } from '../support/fault-server.ts';
import { thrownBy } from '../support/thrown.ts';
import { apiKey, clientOf, failure } from './client-of.ts';

const saved = { ...aMemory, memoryId: 'mem_1' };

test.each(['replayed', 'created'])(
  'withResponse() returns the status, headers and request id of a write that was %s',
  async (idempotencyStatus) => {
    using server = startFaultServer(json(201, saved, { 'Idempotency-Status': idempotencyStatus }));
    const call = clientOf(server).save({ userId: 'u-1', content: 'x' });
    const { data, response } = await call.withResponse();
    expect(data.memoryId).toBe('mem_1');
    expect(response).toMatchObject({ status: 201, requestId: 'req_1', idempotencyStatus });
    expect(response.headers.get('Content-Type')).toBe('application/json');
  },
);

test('idempotencyKey is sent unchanged; without it, every call has a different key', async () => {
  using server = startFaultServer(json(201, saved));
  const client = clientOf(server);
  const request = { userId: 'u-1', content: 'x' };
  await client.save(request, { idempotencyKey: 'my-key' });
  await client.save(request);
  await client.save(request);
  const keys = server.requests.map(({ headers }) => headers.get('Idempotency-Key'));
  expect(keys[0]).toBe('my-key');
  expect(new Set(keys).size).toBe(3);
  expect(keys[1]).toMatch(/^[\x21-\x7e]{20,255}$/);
});

test('metadata that contains itself is rejected before it is sent', async () => {
  using server = startFaultServer(json(201, saved));
  const metadata: { [key: string]: never } = {};
  Object.assign(metadata, { metadata });
  const lost = clientOf(server).save({ userId: 'u-1', content: 'x', metadata });
  expect(await failure(lost)).toBeInstanceOf(InvalidRequestError);
  expect(server.requests).toHaveLength(0);
});

test.each(['throws an error', 'rejects'])(
  'onAttempt receives every attempt, and cannot break the call if it %s',
  async (how) => {
    using server = startFaultServer(html(502), json(200, aMemory));
    const events: unknown[] = [];
    const onAttempt = (event: unknown) => {
      events.push(event);
      const error = new Error('a broken log');
      if (how !== 'rejects') throw error;
      return new Promise<void>((_, reject) => setImmediate(() => reject(error)));
    };
    await clientOf(server, { onAttempt }).get('mem_1');
    const url = `${server.url}/v1/memories/mem_1`;
    expect(events).toMatchObject([
      { operation: 'get', method: 'GET', url, attempt: 1, status: 502, error: { status: 502 } },
      { attempt: 2, status: 200, requestId: 'req_1', error: undefined, retryInMs: undefined },
    ]);
    // An unhandled rejection would fail this test.
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  },
);

test('a custom fetch sends the requests', async () => {
  const urls: string[] = [];
  const fetch = async (url: string) => {
    urls.push(url);
    return Response.json(aMemory);
  };
  const client = new MemoryClient({ apiKey, baseUrl: 'https://memory.test/proxy/', fetch });
  expect(await client.get('mem_1')).toMatchObject({ content: aMemory.content });
  expect(urls).toEqual(['https://memory.test/proxy/v1/memories/mem_1']);
});

const environment = { ...process.env };
afterEach(() => {
  for (const name of ['MEMORY_API_KEY', 'MEMORY_BASE_URL']) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
});

test('key and base URL default to the environment, and the options override it', async () => {
  using server = startFaultServer(json(200, aMemory));
  process.env.MEMORY_API_KEY = 'a-key-of-the-environment';
  process.env.MEMORY_BASE_URL = server.url;
  await new MemoryClient().get('mem_1');
  process.env.MEMORY_BASE_URL = 'http://127.0.0.1:1';
  await clientOf(server, { maxRetries: 0 }).get('mem_1');
  const keys = server.requests.map(({ headers }) => headers.get('Authorization'));
  expect(keys).toEqual(['Bearer a-key-of-the-environment', `Bearer ${apiKey}`]);
  delete process.env.MEMORY_BASE_URL;
  expect(new MemoryClient().baseUrl).toBe('http://127.0.0.1:7070');
});

test('without a key, a call fails with a hint on how to set one; health() needs none', async () => {
  using server = startFaultServer(json(200, { status: 'ok' }));
  delete process.env.MEMORY_API_KEY;
  const client = new MemoryClient({ baseUrl: server.url });
  const error = await failure(client.get('mem_1'));
  expect(error).toBeInstanceOf(AuthenticationError);
  expect(error).toHaveProperty('message', expect.stringContaining('memory keys create'));
  expect(error.message).toContain('MEMORY_API_KEY');
  expect(server.requests).toHaveLength(0);
  expect(await client.health()).toMatchObject({ status: 'ok' });
});

test('the constructor rejects invalid options, and says why without quoting them', () => {
  const withV1 = 'baseUrl must be like http://host/path, without /v1';
  const noObject = 'the options must be an object';
  const urls = ['127.0.0.1:7070', 'ftp://host', 'http://user:password@host', 'http://host/?a=1'];
  const rejected: [options: unknown, message?: string][] = [
    ...urls.map((baseUrl): [object] => [{ baseUrl }]),
    ...[{ timeoutMs: 0 }, { maxRetries: Number.NaN }, { maxRetries: -1 }].map((one): [object] => [
      one,
    ]),
    [{ retryDelayMs: -1 }],
    ...['/v1', '/v1/', '/proxy/v1'].map((end): [object, string] => [
      { baseUrl: `http://host${end}` },
      withV1,
    ]),
    [{ baseURL: 'http://x' }, 'baseURL must be written baseUrl'],
    [{ api_key: apiKey }, 'api_key must be written apiKey'],
    [apiKey, noObject],
    [[], noObject],
  ];
  for (const [options, message] of rejected) {
    const error = thrownBy(() => new MemoryClient(options as never));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error.message).toEqual(message ?? expect.not.stringContaining('password'));
  }
  expect(() => new MemoryClient({ retryDelayMs: 0 })).not.toThrow();
  process.env.MEMORY_BASE_URL = 'http://host/v1';
  expect(() => new MemoryClient()).toThrow(withV1);
  expect(new MemoryClient({ baseUrl: 'http://host/v1/a' }).baseUrl).toBe('http://host/v1/a');
});

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

test('list().withResponse() returns the page and its response', async () => {
  using server = startFaultServer(page(['mem_1'], null));
  const { data, response } = await clientOf(server).list({ userId: 'u-1' }).withResponse();
  expect(data.nextCursor).toBeNull();
  expect(response).toMatchObject({ status: 200, requestId: 'req_1' });
});
