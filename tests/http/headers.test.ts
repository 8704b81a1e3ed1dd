import { describe, expect, test } from 'bun:test';
import { send, withServer } from '../support/server.ts';
import { head, sendRaw } from '../support/socket.ts';

/* `readAnswer` checks the headers of all responses that other tests get. */

const origin = 'https://app.example';
const server = await withServer({ MEMORY_CORS_ORIGINS: origin, MEMORY_RATE_LIMIT: '10/3600' });
const wrong = { authorization: 'Bearer wrong' };
const preflight = { origin, 'access-control-request-method': 'POST' };

describe('a request id', () => {
  test.each<[method: string, path: string, status: number, headers?: Record<string, string>]>([
    ['GET', '/health', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/v1/memories?userId=u', 200],
    ['HEAD', '/v1/memories?userId=u', 200],
    ['OPTIONS', '/v1/memories', 204, preflight],
    ['GET', '/v1/memories', 400],
    ['GET', '/v1/memories', 401, wrong],
    ['GET', '/none', 404],
    ['PUT', '/v1/memories', 405],
    ['POST', '/v1/memories', 415, { 'content-type': 'text/plain' }],
  ])('is that of the client: %s %s %i', async (...given) => {
    const [method, path, status, headers] = given;
    const body = method === 'POST' ? { body: {} } : {};
    const own = { ...headers, 'x-request-id': 'trace/7:42' };
    const response = await send(server, method, path, { headers: own, ...body });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toBe('trace/7:42');
    if (status >= 400) expect(await response.json()).toMatchObject({ requestId: 'trace/7:42' });
  });

  async function answeredTo(...lines: string[]) {
    const { response } = await sendRaw(server, [head(server, 'GET', '/health/live', ...lines)]);
    return response?.headers.get('x-request-id');
  }

  test('of 1 to 128 characters is used', async () => {
    for (const id of ['!', 'x'.repeat(128)]) {
      expect(await answeredTo(`X-Request-Id: ${id}`)).toBe(id);
    }
  });

  test.each([
    ['of 129 characters', [`X-Request-Id: ${'x'.repeat(129)}`]],
    ['with a space', ['X-Request-Id: a b']],
    ['with a non-ASCII character', ['X-Request-Id: é']],
    ['that is empty', ['X-Request-Id:']],
    ['given twice', ['X-Request-Id: a', 'X-Request-Id: b']],
  ])('%s is replaced by a new one', async (_, lines) => {
    const ids = [await answeredTo(...lines), await answeredTo(...lines)];
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(ids[0]).not.toBe(ids[1] ?? '');
  });
});
