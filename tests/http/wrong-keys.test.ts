import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ask, expectError, save } from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** The bounds for the number of wrong keys that an address can send before it gets a 429. */
const atLeast = 10;
const atMost = 1_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('an address that keeps sending wrong keys gets a 429, and valid keys still work', async () => {
  let tries = 0;
  const knock = () => {
    tries += 1;
    const headers = { authorization: `Bearer mk_wrong_key_number_${tries}` };
    return ask(server, 'GET', '/v1/memories?userId=u', { headers });
  };
  let answer = await knock();
  while (answer.status === 401 && tries < atMost) {
    expectError(answer, 401, 'unauthorized');
    answer = await knock();
  }
  expect(tries).toBeGreaterThan(atLeast);
  expectError(answer, 429, 'rate_limited');
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect((await save(server, 'u')).content).toBe('a memory');
  expectError(await knock(), 429, 'rate_limited');
  const headers = { authorization: `Bearer ${await server.createKey('other')}` };
  expect((await ask(server, 'GET', '/v1/memories?userId=u', { headers })).status).toBe(200);
});

test('a request without a key gets a 401, even from an address that sent many wrong keys', async () => {
  for (const header of [{}, { authorization: 'Basic dTpw' }]) {
    const answer = await ask(server, 'GET', '/v1/memories?userId=u', {
      headers: { authorization: '', ...header },
    });
    expectError(answer, 401, 'unauthorized');
  }
});
