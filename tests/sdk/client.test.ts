import { afterEach, expect, test } from 'bun:test';
import { AuthenticationError, InvalidRequestError, MemoryClient } from '../../sdk/index.ts';
import { aMemory, html, json, startFaultServer } from '../support/fault-server.ts';
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

test('invalid values are rejected before they are sent', async () => {
  using server = startFaultServer(json(201, saved));
  const request = { userId: 'u-1', content: 'x' };
  const client = clientOf(server);
  const circular: { [key: string]: never } = {};
  Object.assign(circular, { circular });
  const lost = client.save({ ...request, metadata: circular });
  expect(await failure(lost)).toBeInstanceOf(InvalidRequestError);
  const never = client.save(request, { timeoutMs: Number.NaN });
  expect(await failure(never)).toBeInstanceOf(InvalidRequestError);
  expect(server.requests).toHaveLength(0);
});

test('a rejected promise of onAttempt is ignored', async () => {
  using server = startFaultServer(json(200, aMemory));
  const onAttempt = async () => {
    await new Promise(setImmediate);
    throw new Error('a broken log');
  };
  await clientOf(server, { onAttempt }).get('mem_1');
  // An unhandled rejection would fail this test.
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
});

test('onAttempt receives every attempt and cannot break the call', async () => {
  using server = startFaultServer(html(502), json(200, aMemory));
  const events: unknown[] = [];
  const onAttempt = (event: unknown) => {
    events.push(event);
    throw new Error('a broken log');
  };
  await clientOf(server, { onAttempt }).get('mem_1');
  const url = `${server.url}/v1/memories/mem_1`;
  expect(events).toMatchObject([
    { operation: 'get', method: 'GET', url, attempt: 1, status: 502, error: { status: 502 } },
    { attempt: 2, status: 200, requestId: 'req_1', error: undefined, retryInMs: undefined },
  ]);
});

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

test('the constructor rejects invalid options without quoting them', () => {
  const bad = [
    { baseUrl: '127.0.0.1:7070' },
    { baseUrl: 'ftp://host' },
    { baseUrl: 'http://user:password@host' },
    { baseUrl: 'http://host/?a=1' },
    { timeoutMs: 0 },
    { maxRetries: Number.NaN },
    { maxRetries: -1 },
    { retryDelayMs: -1 },
  ];
  for (const options of bad) expect(() => new MemoryClient(options)).toThrow(InvalidRequestError);
  expect(() => new MemoryClient({ baseUrl: 'http://u:password@host' })).not.toThrow('password');
  expect(() => new MemoryClient({ retryDelayMs: 0 })).not.toThrow();
});

test('a base URL that ends in /v1 is rejected, because the client adds it', () => {
  const message = 'baseUrl must not contain /v1: the client adds it to every path';
  for (const end of ['/v1', '/v1/', '/proxy/v1']) {
    expect(() => new MemoryClient({ baseUrl: `http://host${end}` })).toThrow(message);
  }
  process.env.MEMORY_BASE_URL = 'http://host/v1';
  expect(() => new MemoryClient()).toThrow(message);
  expect(new MemoryClient({ baseUrl: 'http://host/v1/a' }).baseUrl).toBe('http://host/v1/a');
});

test('a misspelled option is rejected, and the error names the correct option', () => {
  const unknown: [options: unknown, message: string][] = [
    [{ baseURL: 'http://x' }, 'baseURL is not a known option; did you mean baseUrl?'],
    [{ api_key: apiKey }, 'api_key is not a known option; did you mean apiKey?'],
    [apiKey, 'the options must be an object: { apiKey, baseUrl }'],
    [[], 'the options must be an object: { apiKey, baseUrl }'],
  ];
  for (const [options, message] of unknown) {
    const create = () => new MemoryClient(options as never);
    expect(create).toThrow(InvalidRequestError);
    expect(create).toThrow(new RegExp(`^${RegExp.escape(message)}$`));
  }
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
