import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  send,
  startTestServer,
  type TestServer,
  withProject,
  withServer,
} from '../support/server.ts';
import { call, list, messagesTo } from './messages.ts';

/* Raw JSON-RPC requests to /mcp: authentication, and rejections before a tool runs. */

const server = await withProject();
const post = messagesTo(() => server);

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('access to /mcp', () => {
  test('a key that is bound to a user works only for that user', async () => {
    const key = bearer(await server.createKey('default', { userId: 'a/b' }));
    expect((await post('/mcp', list, key)).json.result.tools).toHaveLength(6);
    expect((await post('/mcp/users/a%2Fb', list, key)).json.result.tools).toHaveLength(6);
    expect(await post('/mcp/users/other', list, key)).toMatchObject({ status: 403 });
    const saved = await post('/mcp', call('save_memory', { content: 'x' }), key);
    expect(saved.json.result.content[0].text).toStartWith('Saved: ');
    expect((await server.client.list({ userId: 'a/b' })).items).toHaveLength(1);
  });

  test('a key of another project has no access to this project', async () => {
    const { id } = await server.client.save({ userId: 'u', content: 'Of this project' });
    const key = bearer(await server.createKey('other'));
    const { json } = await post('/mcp/users/u', call('get_memory', { id }), key);
    expect(json.result).toMatchObject({ isError: true });
    expect(JSON.stringify(json)).not.toContain('Of this project');
  });
});

describe('the headers Host and Origin', () => {
  /** 405 if they are accepted. */
  const statusAt = async (to: TestServer, headers: Record<string, string>) =>
    (await send(to, 'GET', '/mcp/users/u', { headers })).status;

  test.each<[Record<string, string>, number]>([
    [{ host: 'memory.example' }, 403],
    [{ host: '127.0.0.1.evil.example' }, 403],
    [{ host: 'localhost:1234' }, 405],
    [{ host: 'LOCALHOST' }, 405],
    [{ host: '[::1]:7070' }, 405],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost.evil.example' }, 403],
    [{ origin: 'http://localhost:6274' }, 405],
    [{ origin: server.url }, 405],
  ])('%j: %d', async (headers, status) => expect(await statusAt(server, headers)).toBe(status));

  test('settings allow additional hosts and origins, but never 0.0.0.0', async () => {
    const env = {
      // The server listens on all addresses.
      HOST: '0.0.0.0',
      MEMORY_MCP_HOSTS: 'Memory.example',
      MEMORY_CORS_ORIGINS: 'https://app.example',
    };
    await using other = await startTestServer(env);
    const host = 'localhost';
    const statuses: [Record<string, string>, number][] = [
      [{ host }, 405],
      [{ host: 'memory.EXAMPLE:443' }, 405],
      [{ host: 'app.example' }, 403],
      [{ host: '0.0.0.0' }, 403],
      [{ host, origin: 'https://app.example' }, 405],
      [{ host, origin: 'https://memory.example' }, 405],
      [{ host, origin: 'https://other.example' }, 403],
      [{ host, origin: 'http://0.0.0.0' }, 403],
    ];
    for (const [headers, status] of statuses) {
      expect([headers, await statusAt(other, headers)]).toEqual([headers, status]);
    }
    const preflight = await send(other, 'OPTIONS', '/mcp', {
      headers: { host, origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Mcp-Method');
  });

  // Only Linux assigns all addresses in 127.0.0.0/8 to the loopback interface.
  test.skipIf(process.platform !== 'linux')('the address that it listens on', async () => {
    await using own = await startTestServer({ HOST: '127.0.0.2' });
    expect(await statusAt(own, {})).toBe(405);
  });
});

describe('rejected requests', () => {
  test.each([
    [{}],
    [[]],
    [1],
    ['x'],
    [{ items: [{ a: 'b' }, null] }],
    [{ jsonrpc: '1.0', id: 1, method: 'tools/list' }],
  ])('an invalid message: %j', async (body) => {
    const { status, json } = await post('/mcp/users/u', body);
    expect(status).toBe(400);
    expect(json.error.code).toBeNumber();
  });

  test('an unknown method', async () => {
    const { json } = await post('/mcp/users/u', { ...list, method: 'tools/none' });
    expect(json.error.code).toBe(-32601);
  });

  test('a subscription, because the tools never change', async () => {
    const version = '2026-07-28';
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const method = 'subscriptions/listen';
    const headers = { 'mcp-protocol-version': version, 'mcp-method': method };
    const body = { ...list, method, params: { _meta, notifications: { toolsListChanged: true } } };
    const { json } = await post('/mcp/users/u', body, headers);
    expect(json.error.message).toContain('limit');
  });
});

test("the response has the message's request id", async () => {
  const { headers } = await post('/mcp/users/u', list, { 'x-request-id': 'mine' });
  expect(headers.get('x-request-id')).toBe('mine');
});

describe('on a server that logs and limits the requests of a key', async () => {
  const logged: string[] = [];
  const env = { LOG_LEVEL: 'info', MEMORY_RATE_LIMIT: '4/60' };
  const log = (line: string) => void logged.push(line);
  const limited = await withServer(env, [join(import.meta.dir, 'more-tools.ts')], { log });
  const failures = () => logged.filter((line) => line.includes('MCP tool failed'));

  test('the limit counts messages and tool requests; a tool says when to retry', async () => {
    const key = bearer(await limited.createKey('counting'));
    const search = call('search_memories', { query: 'x' });
    const first = await post('/mcp/users/u', search, key, limited);
    expect(first.headers.get('ratelimit')).toMatch(/r=3;/);
    expect(first.json.result.content[0].text).toStartWith('No memory matches');
    await post('/mcp/users/u', list, key, limited);
    const third = await post('/mcp/users/u', search, key, limited);
    expect(third.json.result).toMatchObject({ isError: true });
    expect(third.json.result.content[0].text).toMatch(/try again in \d+ s/);
    const last = await post('/mcp/users/u', list, key, limited);
    expect(last.status).toBe(429);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    const error = { code: -32_000, data: { error: 'rate_limited' } };
    expect(last.json).toMatchObject({ id: null, error });
  });

  test('a failed search for similar memories does not fail the save', async () => {
    // The limit allows the memory, the call, and its first two requests: a list and the save.
    const key = bearer(await limited.createKey('saving'));
    const body = { userId: 'u', content: 'Prefers dark mode' };
    await send(limited, 'POST', '/v1/memories', { body, headers: key });
    const save = call('save_memory', { content: 'Prefers dark mode at night' });
    const { json } = await post('/mcp/users/u', save, key, limited);
    const text = expect.stringMatching(/^Saved: mem_\w+$/);
    expect(json.result).toEqual({ content: [{ type: 'text', text }] });
    // The error tells the client to wait; the tool itself did not fail.
    expect(failures()).toEqual([]);
  });

  test('an unexpected error in a tool is logged with its stack', async () => {
    const { json } = await post('/mcp/users/u', call('throw_error', {}), {}, limited);
    const text = 'Internal error in the memory tools; see the log for details.';
    expect(json.result).toEqual({ content: [{ type: 'text', text }], isError: true });
    const stack = expect.stringMatching(/a bug in the tool.* at .*more-tools\.ts:\d+/);
    expect(failures()).toEqual([stack]);
  });
});

test.each(['/mcp/', '/mcp/users', '/mcp/users/', '/mcp/users/a/b'])(
  'an unknown path returns 404: %s',
  async (path) => expect(await post(path, list)).toMatchObject({ status: 404 }),
);

test('the user id in the path is validated', async () => {
  const tool = call('save_memory', { content: 'x' });
  const long = await post(`/mcp/users/${'u'.repeat(257)}`, tool);
  expect(long.json.result).toMatchObject({ isError: true });
  expect(long.json.result.content[0].text).toContain('at most 256 characters');
  expect(await post('/mcp/users/%ff', tool)).toMatchObject({ status: 400 });
  const { json } = await post('/mcp/users/%C3%A5%20b', tool);
  expect(json.result.content[0].text).toStartWith('Saved');
  expect((await server.client.list({ userId: 'å b' })).items).toHaveLength(1);
});
