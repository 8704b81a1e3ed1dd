import { expect, test } from 'bun:test';
import { ask, expectError, save } from '../support/http.ts';
import { withServer } from '../support/server.ts';
import { hasIpv6 } from '../support/socket.ts';

/** The number of wrong keys that an address can send per minute, as in docs/limits.md. */
const perMinute = 60;

const host = hasIpv6 ? '::' : '127.0.0.1';
const open = await withServer({ MEMORY_TRUSTED_PROXIES: '127.0.0.1', HOST: host });
const { port } = new URL(open.url);
const server = { ...open, url: `http://127.0.0.1:${port}` };

const list = (authorization: string) =>
  ask(server, 'GET', '/v1/memories?userId=u', { headers: { authorization } });

test('an address that keeps sending wrong keys gets a 429, and valid keys still work', async () => {
  for (let tries = 0; tries < perMinute; tries += 1) {
    expectError(await list(`Bearer mk_wrong_key_number_${tries}`), 401, 'unauthorized');
  }
  const answer = await list('Bearer mk_wrong_key');
  expectError(answer, 429, 'rate_limited');
  // The window began with the first wrong key, a moment ago.
  expect(Number(answer.headers.get('retry-after'))).toBeWithin(45, 61);
  expect((await save(server, 'u')).content).toBe('a memory');
  expectError(await list('Bearer mk_another_wrong_key'), 429, 'rate_limited');
  expect((await list(`Bearer ${await server.createKey('other')}`)).status).toBe(200);
  // Requests without a key do not count as wrong keys.
  for (const header of ['', 'Basic dTpw']) expectError(await list(header), 401, 'unauthorized');
});

test('behind a trusted proxy, the wrong keys of each client are counted separately', async () => {
  const sendWrongKey = (client: string) =>
    ask(server, 'GET', '/v1/key', {
      headers: { authorization: 'Bearer wrong', 'x-forwarded-for': client },
    });
  for (let sent = 0; sent < perMinute; sent += 1) await sendWrongKey('192.0.2.1');
  expectError(await sendWrongKey('192.0.2.1'), 429, 'rate_limited');
  expectError(await sendWrongKey('192.0.2.2'), 401, 'unauthorized');
});

test.skipIf(!hasIpv6)('wrong keys from one address do not count against another', async () => {
  const sendWrongKey = async (host: string) => {
    const headers = { authorization: 'Bearer mk_wrong_key_wrong_key' };
    return (await fetch(`http://${host}:${port}/v1/key`, { headers })).status;
  };
  for (let tries = 0; tries < perMinute; tries += 1) await sendWrongKey('127.0.0.1');
  expect([await sendWrongKey('127.0.0.1'), await sendWrongKey('[::1]')]).toEqual([429, 401]);
});
