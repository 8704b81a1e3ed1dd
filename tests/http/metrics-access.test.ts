import { describe, expect, test } from 'bun:test';
import { type OperationName, operations } from '../../sdk/contract/operations.ts';
import { type Answer, ask, expectError, readAnswer, save } from '../support/http.ts';
import { requests, withoutMemories } from '../support/operation-requests.ts';
import { withServer } from '../support/server.ts';

/* Who may read the metrics, and what a key for the metrics may not do. */

const server = await withServer();
const own = await withServer({ MEMORY_RATE_LIMIT: '2/3600', MEMORY_METRICS: 'off' });

const viaProxy = { 'x-forwarded-for': '127.0.0.1' };

/** Requests the metrics. Without a key, the Authorization header is empty. */
function read(headers: Record<string, string>, key = ''): Promise<Response> {
  const authorization = key === '' ? '' : `Bearer ${key}`;
  return fetch(`${server.url}/metrics`, { headers: { authorization, ...headers } });
}

const rejected = async (headers: Record<string, string>, key?: string): Promise<Answer> =>
  readAnswer(await read(headers, key));

describe('without a key', () => {
  test('a request on the same machine is answered', async () => {
    expect((await read({})).status).toBe(200);
  });

  test.each([
    ['x-forwarded-for', '127.0.0.1'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded-Host', 'localhost'],
    ['forwarded', 'for=127.0.0.1'],
    ['via', '1.1 proxy'],
    ['x-real-ip', '127.0.0.1'],
  ])('a request that a proxy has forwarded is rejected: %s', async (name, value) => {
    expectError(await rejected({ [name]: value }), 401, 'unauthorized');
  });

  test.each(['rebound.example', 'localhost.example', '0.0.0.0'])(
    'a request to %s is rejected, because a web page could make this name resolve to this machine',
    async (host) => {
      expectError(await rejected({ host }), 401, 'unauthorized');
    },
  );

  test.each(['localhost', '127.0.0.1:7070', '[::1]:7070'])(
    'a request to %s is answered',
    async (host) => {
      expect((await read({ host })).status).toBe(200);
    },
  );
});

test.each([{}, { readOnly: true }, { userId: 'ada' }])(
  "a project's key cannot read the metrics: %j",
  async (kind) => {
    const key = await server.createKey('default', kind);
    expectError(await rejected(viaProxy, key), 403, 'forbidden');
  },
);

describe('with a key for the metrics', async () => {
  const key = await server.createKey('default', { metricsOnly: true });
  const as = { ...server, key };

  test('a forwarded request is answered', async () => {
    const response = await read(viaProxy, key);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('memory_build_info');
  });

  const all = Object.keys(operations) as OperationName[];

  test.each(all.filter((name) => operations[name].path.startsWith('/v1/')))(
    'the operation %s is rejected, and changes nothing',
    async (name) => {
      const { id } = await save(server, 'kept', 'kept');
      const { method, path } = operations[name];
      const request = requests[name]?.({ userId: 'kept', id, text: 'kept' }) ?? { path };
      expect(requests[name] === undefined).toBe(withoutMemories.includes(name));
      expectError(await ask(as, method, request.path, request), 403, 'forbidden');
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
