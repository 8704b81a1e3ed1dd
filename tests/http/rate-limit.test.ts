import { describe, expect, test } from 'bun:test';
import { document, misfit } from '../support/document.ts';
import { type Answer, ask, expectError, newUser } from '../support/http.ts';
import { withServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { markOf } from '../support/writes.ts';

const requests = 25;

const server = await withServer({ MEMORY_RATE_LIMIT: `${requests}/3600` });
const quick = await withServer({ MEMORY_RATE_LIMIT: '3/1' });

function withKey(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Returns the remaining quota in the RateLimit header and the seconds until it resets. */
function rateLimit({ headers }: Answer): { left: number; seconds: number } {
  const found = /^"default";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '');
  expect(found).not.toBeNull();
  expect(headers.get('ratelimit-policy')).toMatch(/^"default";q=\d+;w=\d+$/);
  return { left: Number(found?.[1]), seconds: Number(found?.[2]) };
}

describe("a project's rate limit", () => {
  test('is in every authenticated response, including errors', async () => {
    const headers = withKey(await server.createKey('limited'));
    const save = { userId: newUser(), content: 'x' };
    const sent: [method: string, path: string, status: number, body?: object, type?: string][] = [
      ['POST', '/v1/memories', 201, save],
      ['GET', '/v1/memories?userId=u', 200],
      ['POST', '/v1/ingest/batch', 202, { items: [null] }],
      ['POST', '/v1/memories', 400, {}],
      ['GET', '/v1/memories?nope=1', 400],
      ['GET', '/v1/nope', 404],
      ['GET', '/v1/memories/nope', 404],
      ['DELETE', '/v1/memories/nope', 404],
      ['PUT', '/v1/memories', 405],
      ['OPTIONS', '/v1/memories', 405],
      ['POST', '/v1/memories', 415, save, 'text/plain'],
    ];
    for (const [index, [method, path, status, body, type]] of sent.entries()) {
      const own = { ...headers, ...(type && { 'content-type': type }) };
      const answer = await ask(server, method, path, { headers: own, ...(body ? { body } : {}) });
      expect(answer.status).toBe(status);
      expect(rateLimit(answer).left).toBe(requests - index - 1);
      expect(rateLimit(answer).seconds).toBeWithin(3_500, 3_601);
      expect(answer.headers.get('ratelimit-policy')).toBe(`"default";q=${requests};w=3600`);
    }
  });

  test('allows the announced number of requests, then returns 429 on every route', async () => {
    const headers = withKey(await server.createKey('flood'));
    const flood = await Promise.all(
      Array.from({ length: requests * 2 }, () => {
        return ask(server, 'GET', '/v1/memories?userId=u', { headers });
      }),
    );
    const granted = flood.filter(({ status }) => status === 200);
    expect(granted).toHaveLength(requests);
    const left = granted.map((answer) => rateLimit(answer).left).sort((a, b) => a - b);
    expect(left).toEqual([...left.keys()]);
    const refused = flood.filter((answer) => !granted.includes(answer));
    refused.push(await ask(server, 'GET', '/v1/nope', { headers }));
    refused.push(await ask(server, 'POST', '/v1/memories', { headers, body: {} }));
    for (const answer of refused) {
      expectError(answer, 429, 'rate_limited');
      const { left, seconds } = rateLimit(answer);
      expect(left).toBe(0);
      expect(answer.headers.get('retry-after')).toBe(String(seconds));
    }
  });

  test('is shared by its keys, and separate from other projects and from /health', async () => {
    const [one, two] = [await server.createKey('shared'), await server.createKey('shared')];
    const other = await server.createKey('calm');
    const path = '/v1/memories?userId=u';
    for (let n = 0; n < requests; n += 1) await ask(server, 'GET', path, { headers: withKey(one) });
    const refused = await ask(server, 'GET', path, { headers: withKey(two) });
    expectError(refused, 429, 'rate_limited');
    const calm = await ask(server, 'GET', path, { headers: withKey(other) });
    expect([calm.status, rateLimit(calm).left]).toEqual([200, requests - 1]);
    const health = await ask(server, 'GET', '/health', { headers: withKey(one) });
    expect([health.status, health.headers.get('ratelimit')]).toEqual([200, null]);
  });
});

describe('after 429', () => {
  async function spend(headers: Record<string, string>): Promise<Answer> {
    const send = () => ask(quick, 'GET', '/v1/nope', { headers });
    return until(send, { fits: ({ status }) => status === 429 });
  }

  test('Retry-After is in whole seconds as documented, and waiting that long is sufficient', async () => {
    const headers = withKey(await quick.createKey('patient'));
    const answer = await spend(headers);
    const seconds = answer.headers.get('retry-after') ?? '';
    expect(seconds).toBe('1');
    const { schema = {} } = document.components.headers['Retry-After'] ?? {};
    expect(misfit(schema, Number(seconds))).toBeNull();
    await Bun.sleep(Number(seconds) * 1_000);
    expect((await ask(quick, 'GET', '/v1/memories?userId=u', { headers })).status).toBe(200);
  });

  test('the idempotency key is still unused', async () => {
    const headers = { ...withKey(await quick.createKey('keys')), 'idempotency-key': 'k' };
    const [one, two] = ['first', 'second'].map((content) => ({ userId: 'u', content }));
    await spend(headers);
    const refused = await ask(quick, 'POST', '/v1/memories', { headers, body: one });
    expectError(refused, 429, 'rate_limited');
    expect(markOf(refused)).toBeNull();
    const send = () => ask(quick, 'POST', '/v1/memories', { headers, body: two });
    const answer = await until(send, { fits: ({ status }) => status !== 429 });
    expect(answer).toMatchObject({ status: 201, body: { content: 'second' } });
    expect(markOf(answer)).toBe('created');
  });
});
