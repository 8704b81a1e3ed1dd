import { describe, expect, test } from 'bun:test';
import { send, startTestServer, withProject } from '../support/server.ts';
import { connectTo, type Way, ways } from './connect.ts';
import { accept, list as anyList, call } from './messages.ts';

/* Errors of /mcp before a tool runs are JSON-RPC errors, with the status and headers of the API. */

const server = await withProject();

const list = { ...anyList, id: 'seven' };
const text = (length: number) => ({ ...list, params: { x: 'x'.repeat(length) } });

type Sent = { method?: string; path?: string; body?: unknown; headers?: Record<string, string> };
type Expected = [status: number, error: string, id?: string | number];

const cases: [name: string, Sent, Expected][] = [
  ['an unknown key', { headers: { authorization: 'Bearer mk_unknown' } }, [401, 'unauthorized']],
  ['no key', { path: '/mcp', headers: { authorization: '' } }, [401, 'unauthorized']],
  ['a foreign Host', { headers: { host: 'evil.example' } }, [403, 'forbidden']],
  ['an unknown path', { path: '/mcp/none' }, [404, 'not_found']],
  ['the method PUT', { method: 'PUT' }, [405, 'method_not_allowed']],
  ['the method GET', { method: 'GET' }, [405, 'method_not_allowed']],
  ['the method DELETE', { method: 'DELETE' }, [405, 'method_not_allowed']],
  ['a body that is too large', { body: text(1_100_000) }, [413, 'payload_too_large']],
  ['a text', { headers: { 'content-type': 'text/plain' } }, [415, 'unsupported_media_type']],
  ["a project's key, without a user", { path: '/mcp' }, [400, 'invalid_request', 'seven']],
  ['a bad user', { path: '/mcp/users/%ff', body: { ...list, id: 7 } }, [400, 'invalid_request', 7]],
  ['a bad id', { path: '/mcp', body: { ...list, id: { a: 1 } } }, [400, 'invalid_request']],
  ['an array of messages', { body: [list, list] }, [400, 'invalid_request']],
];

/** A header of the response, by its status. */
const headersOf: Record<number, string[]> = {
  401: ['www-authenticate', 'Bearer'],
  405: ['allow', 'POST'],
};

describe('errors before a tool runs', () => {
  test.each(cases)('%s', async (_, sent, [status, error, id = null]) => {
    const { method = 'POST', path = '/mcp/users/u', headers } = sent;
    const body = method === 'POST' || method === 'PUT' ? (sent.body ?? list) : undefined;
    const response = await send(server, method, path, { body, headers: { accept, ...headers } });
    const data = { error, requestId: response.headers.get('x-request-id') };
    const code = status === 400 ? -32_600 : -32_000;
    const rpcError = { code, message: expect.any(String), data };
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id, error: rpcError });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    const [name = '', value = ''] = headersOf[status] ?? ['cache-control', 'no-store'];
    expect(response.headers.get(name)).toBe(value);
  });

  test.each(['1e400', '9007199254740993'])('the number %s, too large for a double', async (n) => {
    const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
    const message = JSON.stringify(call('save_memory', { content: 'x', metadata: { n: 0 } }));
    const init = { method: 'POST', headers, body: message.replace('"n":0', `"n":${n}`) };
    const response = await fetch(`${server.url}/mcp/users/exact`, init);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32_600, message: expect.stringContaining('use a string') },
    });
    expect((await server.client.list({ userId: 'exact' })).items).toEqual([]);
  });

  test('malformed JSON is a parse error', async () => {
    const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: '{"jsonrpc":' };
    const response = await fetch(`${server.url}/mcp/users/u`, init);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32_700 } });
  });
});

test('an array of messages runs no tool', async () => {
  const save = call('save_memory', { content: 'x' });
  const body = [save, { ...save, id: 2 }];
  const response = await send(server, 'POST', '/mcp/users/batch', { body, headers: { accept } });
  expect(response.status).toBe(400);
  const message = 'JSON-RPC batches are not supported; send each message in its own POST';
  expect(await response.json()).toMatchObject({ error: { message } });
  expect((await server.client.list({ userId: 'batch' })).items).toEqual([]);
});

describe('the official client', () => {
  const way: Way = { transport: 'http', version: '2025-11-25' };
  test.each([
    ['an unknown key', { key: 'mk_unknown_key_0123' }, 'the API key is unknown'],
    ['a missing user', {}, 'connect to /mcp/users/<userId>'],
  ])('shows the reason when it connects: %s', async (_, as, why) => {
    await expect(connectTo(server, way, as)).rejects.toThrow(why);
  });

  test('shows the reason when it calls a tool, with each version', async () => {
    await using limited = await startTestServer({ MEMORY_RATE_LIMIT: '12/60' });
    for (const way of ways.filter(({ transport }) => transport === 'http')) {
      const key = await limited.createKey(way.version);
      await using memory = await connectTo(limited, way, { userId: 'u', key });
      const headers = { authorization: `Bearer ${key}` };
      while ((await send(limited, 'GET', '/v1/key', { headers })).status === 200);
      await expect(memory.call('list_memories')).rejects.toThrow('more than 12 requests');
    }
  });
});
