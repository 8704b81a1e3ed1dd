import { expect, test } from 'bun:test';
import { ConnectionError, ServerError } from '../../sdk/index.ts';
import {
  aMemory,
  cut,
  cutInChunks,
  dropped,
  html,
  json,
  type Reply,
  refusal,
  silent,
  stalled,
  startFaultServer,
  text,
} from '../support/fault-server.ts';
import { clientOf, failure } from './client-of.ts';

const found = json(200, aMemory);

const passing: Record<string, Reply> = {
  'a dropped connection': dropped(),
  'a cut body': cut(),
  'a body cut between chunks': cutInChunks(),
  'a stalled body': stalled(),
  'no response in time': silent(),
  '408 from a proxy': text(408, ''),
  '409': refusal(409, 'conflict'),
  '429': refusal(429, 'rate_limited'),
  '429 with Retry-After: 0': refusal(429, 'rate_limited', { 'Retry-After': '0' }),
  '500': refusal(500, 'internal'),
  'an HTML 502 from a proxy': html(502),
  '503': refusal(503, 'unavailable'),
  '504': text(504, ''),
};

/** Short only for the faults that use it up, so that a slow machine does not time out as well. */
const timeoutOf = (fault: string) =>
  fault === 'a stalled body' || fault === 'no response in time' ? 200 : 5_000;

for (const [fault, reply] of Object.entries(passing)) {
  const timeoutMs = timeoutOf(fault);

  test(`get() retries after ${fault}`, async () => {
    using server = startFaultServer(reply, reply, found);
    const client = clientOf(server, { timeoutMs });
    expect(await client.get('mem_1')).toMatchObject({ content: 'Prefers dark mode' });
    expect(server.requests).toHaveLength(3);
  });

  test(`save() retries twice after ${fault}, with the same key and body, and then fails`, async () => {
    using server = startFaultServer(reply);
    const client = clientOf(server, { timeoutMs });
    const error = await failure(client.save({ userId: 'u-1', content: 'x' }));
    expect(error.attempts).toBe(3);
    expect(server.requests).toHaveLength(3);
    const keys = new Set(server.requests.map(({ headers }) => headers.get('Idempotency-Key')));
    expect([...keys]).toEqual([error.idempotencyKey ?? '']);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  });

  test(`save() without a key is not retried after ${fault}`, async () => {
    using server = startFaultServer(reply);
    const client = clientOf(server, { timeoutMs });
    const request = { userId: 'u-1', content: 'x' };
    const error = await failure(client.save(request, { idempotencyKey: null }));
    expect(error.attempts).toBe(1);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers.has('Idempotency-Key')).toBe(false);
  });
}

const final: Record<string, Reply> = {
  '400': refusal(400, 'invalid_request'),
  '401': refusal(401, 'unauthorized'),
  '403 from a proxy': html(403),
  '404': refusal(404, 'not_found'),
  '413': refusal(413, 'payload_too_large'),
  '415': refusal(415, 'unsupported_media_type'),
  'a redirect': text(302, '', { Location: 'https://example.com/' }),
  'garbage instead of JSON': text(200, '{"id": oops', { 'Content-Type': 'application/json' }),
  'a page instead of JSON': html(200),
};

for (const [answer, reply] of Object.entries(final)) {
  test(`get() does not retry after ${answer}`, async () => {
    using server = startFaultServer(reply);
    const error = await failure(clientOf(server).get('mem_1'));
    expect(error.attempts).toBe(1);
    expect(server.requests).toHaveLength(1);
  });
}

test('a refused connection throws a ConnectionError after all attempts', async () => {
  const server = startFaultServer(silent());
  server[Symbol.dispose]();
  const error = await failure(clientOf(server).get('mem_1'));
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ attempts: 3, code: 'connection', status: undefined });
  expect(error.message).toContain(server.url);
  // The cause is the runtime's error. ofetch's own error would contain the request headers.
  expect(error.cause).toBeInstanceOf(Error);
  expect(error.cause).not.toHaveProperty('options');
});

test('maxRetries limits the retries; 0 turns them off', async () => {
  using server = startFaultServer(refusal(503, 'unavailable'));
  await failure(clientOf(server, { maxRetries: 0 }).get('mem_1'));
  expect(server.requests).toHaveLength(1);
  await failure(clientOf(server, { maxRetries: 4 }).get('mem_1'));
  expect(server.requests).toHaveLength(6);
});

test('after all retries, the error of the last attempt is thrown', async () => {
  using server = startFaultServer(dropped(), refusal(429, 'rate_limited'), html(502));
  const error = await failure(clientOf(server).get('mem_1'));
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ status: 502, attempts: 3 });
});
