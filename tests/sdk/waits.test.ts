import { expect, spyOn, test } from 'bun:test';
import {
  AbortError,
  type AttemptEvent,
  type ClientOptions,
  WaitTimeoutError,
} from '../../sdk/index.ts';
import { dropped, json, refusal, startFaultServer } from '../support/fault-server.ts';
import { clientOf, failure } from './client-of.ts';

test('the backoff doubles, with random jitter that only shortens it', async () => {
  using server = startFaultServer(refusal(503, 'unavailable'));
  const waits: number[] = [];
  const onAttempt = ({ retryInMs }: AttemptEvent) => {
    if (retryInMs !== undefined) waits.push(retryInMs);
  };
  await failure(clientOf(server, { retryDelayMs: 4, maxRetries: 3, onAttempt }).get('mem_1'));
  expect(waits).toHaveLength(3);
  for (const [index, wait] of waits.entries()) {
    expect(wait).toBeGreaterThanOrEqual(3 * 2 ** index);
    expect(wait).toBeLessThanOrEqual(4 * 2 ** index);
  }
});

test('the backoff is at most 8 s', async () => {
  using server = startFaultServer(refusal(503, 'unavailable'));
  const { waitMs } = await firstWait(server, { retryDelayMs: 1_000_000 });
  expect(waitMs).toBeGreaterThanOrEqual(6_000);
  expect(waitMs).toBeLessThanOrEqual(8_000);
});

test('a Retry-After of exactly 60 s is waited for', async () => {
  using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '60' }));
  expect(await firstWait(server)).toMatchObject({ waitMs: 60_000 });
});

test('an abort during a wait ends the call at once, with its key, and leaves no timer', async () => {
  using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '50' }));
  using set = spyOn(globalThis, 'setTimeout');
  using clear = spyOn(globalThis, 'clearTimeout');
  const { error, tookMs } = await firstWait(server);
  expect(error).toBeInstanceOf(AbortError);
  const idempotencyKey = server.requests[0]?.headers.get('Idempotency-Key') ?? 'a key';
  expect(error).toMatchObject({ attempts: 1, code: 'aborted', cause: 'enough', idempotencyKey });
  expect(tookMs).toBeLessThan(1_000);
  expect(server.requests).toHaveLength(1);
  // A timer would keep the process alive.
  const waits = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === 50_000);
  const cleared: unknown[] = clear.mock.calls.map(([timer]) => timer);
  expect(waits).toHaveLength(1);
  expect(cleared.includes(waits[0]?.value)).toBe(true);
});

/** Aborts the wait before the first retry of a save, and returns its planned duration. */
async function firstWait(server: { url: string }, options: ClientOptions = {}) {
  const controller = new AbortController();
  const waits: number[] = [];
  const onAttempt = ({ retryInMs }: AttemptEvent) => {
    waits.push(retryInMs ?? -1);
    setImmediate(() => controller.abort('enough'));
  };
  const startedAt = performance.now();
  const client = clientOf(server, { ...options, onAttempt });
  const { signal } = controller;
  const error = await failure(client.save({ userId: 'u-1', content: 'x' }, { signal }));
  return { error, waitMs: waits[0], tookMs: performance.now() - startedAt };
}

function state(status: string, more: object = {}) {
  return json(200, { memoryId: 'mem_1', status, errorMessage: null, ...more });
}

test('the error from a wait has the last status and error, and counts all requests', async () => {
  using server = startFaultServer(state('processing'), dropped, refusal(503, 'unavailable'));
  const error = await failure(clientOf(server).waitUntilComplete('mem_1', { timeoutMs: 1_000 }));
  expect(error).toBeInstanceOf(WaitTimeoutError);
  expect(error).toMatchObject({ memoryId: 'mem_1', ingestStatus: { status: 'processing' } });
  expect(error).toMatchObject({ cause: { status: 503 } });
  expect(error.message).toContain('processing continues');
  expect(error.attempts).toBeGreaterThanOrEqual(3);
  // The timeout may end the last attempt before the server has received it.
  expect(error.attempts - server.requests.length).toBeWithin(0, 2);
  using limited = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '50' }));
  const limitedTo = await failure(clientOf(limited).waitUntilComplete('mem_1', { timeoutMs: 500 }));
  expect(limitedTo).toMatchObject({ code: 'wait_timeout', cause: { retryAfterMs: 50_000 } });
});

test('withResponse() of a wait returns the last response, and counts all requests', async () => {
  const busy = refusal(503, 'unavailable');
  const processing = state('processing');
  using server = startFaultServer(processing, busy, processing, state('complete'));
  const { data, response } = await clientOf(server).waitUntilComplete('mem_1').withResponse();
  expect(data.status).toBe('complete');
  expect(response).toMatchObject({ attempts: 4, requestId: 'req_1' });
  expect(server.requests).toHaveLength(4);
});

test('a wait awaits onStatus and ends if it rejects', async () => {
  using server = startFaultServer(state('processing'), state('processing'), state('complete'));
  const seen: string[] = [];
  const onStatus = async ({ status }: { status: string }) => {
    await Bun.sleep(1);
    seen.push(status);
    if (seen.length === 2) throw new Error('enough');
  };
  const wait = clientOf(server).waitUntilComplete('mem_1', { onStatus });
  expect(await wait.catch(String)).toBe('Error: enough');
  expect(seen).toEqual(['processing', 'processing']);
});

test('an abort between two polls ends a wait, and its error counts all requests', async () => {
  using server = startFaultServer(state('processing'), dropped, state('processing'));
  const controller = new AbortController();
  const onStatus = () => {
    if (server.requests.length === 3) controller.abort('enough');
  };
  const { signal } = controller;
  const error = await failure(clientOf(server).waitUntilComplete('mem_1', { signal, onStatus }));
  expect(error).toBeInstanceOf(AbortError);
  expect(error).toMatchObject({ attempts: 3, cause: 'enough' });
  expect(server.requests).toHaveLength(3);
});
