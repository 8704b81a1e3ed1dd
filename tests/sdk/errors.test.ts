import { expect, test } from 'bun:test';
import { inspect } from 'node:util';
import { errorTable } from '../../sdk/contract/errors.ts';
import * as sdk from '../../sdk/index.ts';
import { html, json, refusal, startFaultServer, text } from '../support/fault-server.ts';
import { apiKey, clientOf, failure } from './client-of.ts';

const classes = {
  400: sdk.InvalidRequestError,
  401: sdk.AuthenticationError,
  403: sdk.PermissionError,
  404: sdk.NotFoundError,
  405: sdk.InvalidRequestError,
  412: sdk.PreconditionFailedError,
  413: sdk.PayloadTooLargeError,
  415: sdk.InvalidRequestError,
  429: sdk.RateLimitError,
  500: sdk.ServerError,
  503: sdk.ServerError,
};

for (const [code, { status }] of Object.entries(errorTable)) {
  test(`${status} ${code} throws its error class with all fields of the response`, async () => {
    using server = startFaultServer(refusal(status, code, { 'Retry-After': '3' }));
    const error = await failure(clientOf(server, { maxRetries: 0 }).get('mem_1'));
    expect(error).toBeInstanceOf(classes[status]);
    expect(error.name).toBe(classes[status].name);
    expect(error).toMatchObject({ status, code, message: `it is ${code}`, requestId: 'req_1' });
    expect(error).toMatchObject({ attempts: 1, retryAfterMs: 3_000, details: [] });
  });

  test(`${status} ${code} without a body throws the same error class`, async () => {
    using server = startFaultServer(text(status, ''));
    const error = await failure(clientOf(server, { maxRetries: 0 }).get('mem_1'));
    expect(error).toBeInstanceOf(classes[status]);
    expect(error).toMatchObject({ status, code: 'unexpected_answer', requestId: undefined });
  });
}

test('the error of an invalid request names the fields', async () => {
  const details = [{ field: 'content', message: 'must not be empty' }];
  const body = { error: 'invalid_request', message: 'no', details, requestId: 'req_1' };
  using server = startFaultServer(json(400, body));
  const error = await failure(clientOf(server).save({ userId: 'u-1', content: '' }));
  expect(error).toMatchObject({ details });
});

const strange = {
  'a page with 200': html(200),
  'garbage with 200': text(200, '{"id": oops'),
  'an empty 200': text(200, ''),
  'a JSON string': json(200, 'ok'),
  'JSON null': json(200, null),
  'unrelated JSON': json(200, { hello: 'world' }),
  'another 2xx': text(204, ''),
  'a redirect': text(301, '', { Location: 'https://example.com/' }),
  'a page with 502': html(502),
};

for (const [answer, reply] of Object.entries(strange)) {
  test(`${answer} is a ServerError with a description`, async () => {
    using server = startFaultServer(reply);
    const error = await failure(clientOf(server, { maxRetries: 0 }).get('mem_1'));
    expect(error).toBeInstanceOf(sdk.ServerError);
    expect(error.code).toBe('unexpected_answer');
    expect(error.message).toStartWith('not a response from the memory service: ');
  });
}

test('an HTML page is not accepted as the response to a deletion', async () => {
  using server = startFaultServer(html(200));
  expect(await failure(clientOf(server).delete('mem_1'))).toBeInstanceOf(sdk.ServerError);
});

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

test.each([400, 401, 500])('the error for a %p does not contain the API key', async (status) => {
  const echo = { error: 'invalid_request', message: `bad key ${apiKey}`, requestId: 'r' };
  using server = startFaultServer(json(status, echo));
  const error = await failure(clientOf(server, { maxRetries: 0 }).get('mem_1'));
  expect(error.message).toBe('bad key [redacted]');
});

test('the error for an API key that is not allowed in a header does not contain the key', async () => {
  const client = new sdk.MemoryClient({ apiKey: 'secret\nkey', baseUrl: 'http://127.0.0.1:1' });
  const error = await failure(client.get('mem_1'));
  expect(error).toBeInstanceOf(sdk.AuthenticationError);
  expect(inspect(error, { depth: 20 })).not.toContain('secret');
});

test('a failed call causes no unhandled rejection, however its promise is used', async () => {
  using server = startFaultServer(refusal(404, 'not_found'));
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const client = clientOf(server);
  await failure(client.get('mem_1'));
  await failure(client.get('mem_1').withResponse());
  await failure(client.list({ userId: 'u-1' }));
  await failure(client.list({ userId: 'u-1' }).withResponse());
  await failure(Array.fromAsync(client.list({ userId: 'u-1' })));
  await failure(client.waitUntilComplete('mem_1').withResponse());
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('the message in a 200 response from another program is not used as the error message', async () => {
  using server = startFaultServer(json(200, { message: 'Welcome', error: 'none' }));
  const error = await failure(clientOf(server).get('mem_1'));
  expect(error.code).toBe('unexpected_answer');
  expect(error.message).toBe('not a response from the memory service: 200, application/json');
});

test('a ConnectionError contains the reason that Node puts into the cause', async () => {
  const cause = new Error('connect ECONNREFUSED 127.0.0.1:7070');
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const baseUrl = 'http://memory.test';
  const client = new sdk.MemoryClient({ apiKey, baseUrl, fetch, maxRetries: 0 });
  const error = await failure(client.get('mem_1'));
  expect(error).toBeInstanceOf(sdk.ConnectionError);
  expect(error.message).toBe(`no response from ${baseUrl}: ${cause.message}`);
});

test('a ConnectionError contains the code of a cause without a message', async () => {
  const cause = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const baseUrl = 'http://memory.test';
  const client = new sdk.MemoryClient({ apiKey, baseUrl, fetch, maxRetries: 0 });
  const error = await failure(client.get('mem_1'));
  expect(error.message).toBe(`no response from ${baseUrl}: ECONNREFUSED`);
});

test('the error for a redirect names its target, and for another response its content type', async () => {
  const location = 'https://example.com/login';
  using server = startFaultServer(text(302, '', { Location: location }), text(200, ''));
  const client = clientOf(server);
  const messages = [
    (await failure(client.get('mem_1'))).message,
    (await failure(client.get('mem_1'))).message,
  ];
  const start = 'not a response from the memory service';
  expect(messages).toEqual([`${start}: 302, ${location}`, `${start}: 200, no content type`]);
});
