import { describe, expect, test } from 'bun:test';
import { type OperationName, operations } from '../../sdk/contract/operations.ts';
import { ask, expectError, readAnswer, save } from '../support/http.ts';
import { perform } from '../support/operation-requests.ts';
import { withServer } from '../support/server.ts';

const server = await withServer();
const own = await withServer({ MEMORY_RATE_LIMIT: '2/3600', MEMORY_METRICS: 'off' });

type Row = [who: string, headers: Record<string, string>, key: string, status: 200 | 401 | 403];
const viaProxy = { 'x-forwarded-for': '127.0.0.1' };
const forwarding = {
  'x-forwarded-for': '127.0.0.1',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'localhost',
  forwarded: 'for=127.0.0.1',
  via: '1.1 proxy',
  ...{ 'x-real-ip': '127.0.0.1', 'x-client-ip': '127.0.0.1', 'true-client-ip': '127.0.0.1' },
};
const keyOf = (kind: Parameters<typeof server.createKey>[1]) => server.createKey('default', kind);
const key = await keyOf({ metricsOnly: true });

test.each<Row>([
  ['this machine', {}, '', 200],
  // A web page could make another name resolve to this machine.
  ...['localhost', '127.0.0.1:7070', '[::1]:7070'].map((host): Row => [host, { host }, '', 200]),
  ...['rebound.example', 'localhost.example', '0.0.0.0'].map(
    (host): Row => [host, { host }, '', 401],
  ),
  ...Object.entries(forwarding).map((header): Row => {
    return [`a proxy: ${header[0]}`, Object.fromEntries([header]), '', 401];
  }),
  ["a proxy, with a project's key", viaProxy, await keyOf({}), 403],
  ['a proxy, with a read-only key', viaProxy, await keyOf({ readOnly: true }), 403],
  ["a proxy, with a user's key", viaProxy, await keyOf({ userId: 'ada' }), 403],
  ['a proxy, with a key for the metrics', viaProxy, key, 200],
])('a request for the metrics from %s', async (_, headers, key, status) => {
  const authorization = key === '' ? '' : `Bearer ${key}`;
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization, ...headers } });
  expect(response.status).toBe(status);
  if (status === 200) expect(await response.text()).toContain('memory_build_info');
  else
    expectError(await readAnswer(response), status, status === 401 ? 'unauthorized' : 'forbidden');
});

describe('with a key for the metrics', () => {
  const as = { ...server, key };

  const all = Object.keys(operations) as OperationName[];

  test.each(all.filter((name) => operations[name].path.startsWith('/v1/')))(
    'the operation %s is rejected, and changes nothing',
    async (name) => {
      const { id } = await save(server, 'kept', 'kept');
      const answer = await perform(as, name, { userId: 'kept', id, text: 'kept' });
      expectError(answer, 403, 'forbidden');
      expect((await server.client.get(id)).content).toBe('kept');
    },
  );

  test.each(['GET /v1/nothing', 'GET /v1', 'PUT /v1/memories', 'POST /mcp/users/u'])(
    '%s is rejected',
    async (request) => {
      const [method = '', path = ''] = request.split(' ');
      const { status, text } = await ask(as, method, path);
      expect({ status, text }).toEqual({ status: 403, text: expect.stringContaining('/metrics') });
    },
  );

  test('a rejected request does not count against the rate limit of the project', async () => {
    const only = { ...own, key: await own.createKey('default', { metricsOnly: true }) };
    for (let sent = 0; sent < 5; sent += 1) {
      expectError(await ask(only, 'GET', '/v1/key'), 403, 'forbidden');
    }
    expect((await ask(own, 'GET', '/v1/key')).status).toBe(200);
  });
});

test('MEMORY_METRICS=off removes the metrics', async () => {
  expectError(await ask(own, 'GET', '/metrics'), 404, 'not_found');
});
