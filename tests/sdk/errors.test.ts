import { expect, test } from 'bun:test';
import { inspect } from 'node:util';
import * as sdk from '../../sdk/index.ts';
import { html, json, refusal, silent, startFaultServer } from '../support/fault-server.ts';
import { apiKey, clientOf, failure } from './client-of.ts';

test('the API key does not appear in errors, events or the client itself', async () => {
  const message = `bad header "Bearer ${apiKey}", not a key: ${apiKey}`;
  const echo = { error: 'internal', message, requestId: 'r' };
  using server = startFaultServer(json(500, echo), (socket) => socket.terminate(), html(502));
  const seen: unknown[] = [];
  const client = clientOf(server, { onAttempt: (event) => seen.push(event) });
  seen.push(await failure(client.get('mem_1')), client, String(client), JSON.stringify(client));
  expect(seen).toHaveLength(7);
  for (const one of seen) {
    const shown = inspect(one, { depth: 20, showHidden: true, getters: true }) + Bun.inspect(one);
    expect(shown).not.toContain(apiKey);
  }
  expect(inspect(seen[0])).toContain('[redacted]');
});

test('credentials of another scheme than Bearer do not appear in errors', async () => {
  const headers = { Authorization: 'secret of a proxy' };
  using server = startFaultServer(json(500, { error: 'internal', message: headers.Authorization }));
  const error = await failure(clientOf(server, { headers, maxRetries: 0 }).get('mem_1'));
  expect(error.message).toBe('[redacted]');
});

test('the error for an API key that is not allowed in a header does not contain the key', async () => {
  const client = new sdk.MemoryClient({ apiKey: 'secret\nkey', baseUrl: 'http://127.0.0.1:1' });
  const error = await failure(client.get('mem_1'));
  expect(error).toBeInstanceOf(sdk.AuthenticationError);
  expect(error.message).toContain('valid apiKey');
  expect(inspect(error, { depth: 20 })).not.toContain('secret');
});

test('a redirect is an error that names it, also in a browser, which hides its status', async () => {
  // `Response.error()` has the status of a hidden redirect.
  const client = new sdk.MemoryClient({ apiKey, fetch: async () => Response.error() });
  const error = await failure(client.get('mem_1'));
  expect(error).toBeInstanceOf(sdk.ServerError);
  expect(error.message).toBe('not a response from the memory service: a redirect');
});

test('a failed call causes no unhandled rejection, however its promise is used', async () => {
  using server = startFaultServer(refusal(404, 'not_found'));
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const client = clientOf(server);
  const early = [client.list({ userId: 'u-1' }), client.export()];
  await failure(client.get('mem_1'));
  await failure(client.get('mem_1').withResponse());
  await failure(client.list({ userId: 'u-1' }));
  await failure(client.list({ userId: 'u-1' }).withResponse());
  await failure(Array.fromAsync(client.list({ userId: 'u-1' })));
  await failure(client.waitUntilComplete('mem_1').withResponse());
  // These have failed before they are awaited.
  for (const list of early) {
    expect(await failure(Array.fromAsync(list))).toMatchObject({ status: 404 });
    expect(await failure(list)).toMatchObject({ status: 404 });
  }
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

const withoutMessage = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
test.each([
  ["the cause's reason", new Error('connect ECONNREFUSED'), 'connect ECONNREFUSED'],
  ["no newline of OpenSSL's", new Error('wrong version number\n'), 'wrong version number'],
  ['the code of a cause without a message', withoutMessage, 'ECONNREFUSED'],
])('a ConnectionError has %s', async (_, cause, reason) => {
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const baseUrl = 'http://memory.test';
  const client = new sdk.MemoryClient({ apiKey, baseUrl, fetch, maxRetries: 0 });
  const error = await failure(client.get('mem_1'));
  expect(error).toBeInstanceOf(sdk.ConnectionError);
  expect(error.message).toBe(`no response from ${baseUrl}: ${reason}`);
});

test('a refused connection throws a ConnectionError after all attempts', async () => {
  const server = startFaultServer(silent);
  server[Symbol.dispose]();
  const error = await failure(clientOf(server).get('mem_1'));
  expect(error).toBeInstanceOf(sdk.ConnectionError);
  expect(error).toMatchObject({ attempts: 3, code: 'connection' });
  expect(error.message).toContain(server.url);
  // The cause is the runtime's error. ofetch's own error would contain the request headers.
  expect(error.cause).toBeInstanceOf(Error);
  expect(error.cause).not.toHaveProperty('options');
});
