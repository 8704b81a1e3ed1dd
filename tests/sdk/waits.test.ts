import { expect, spyOn, test } from 'bun:test';
import { AbortError, type AttemptEvent, type ClientOptions } from '../../sdk/index.ts';
import { refusal, startFaultServer } from '../support/fault-server.ts';
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

test('an abort during a wait ends the call immediately', async () => {
  using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '50' }));
  const { error, tookMs } = await firstWait(server);
  expect(error).toBeInstanceOf(AbortError);
  expect(error).toMatchObject({ attempts: 1, code: 'aborted', cause: 'enough' });
  expect(tookMs).toBeLessThan(1_000);
  expect(server.requests).toHaveLength(1);
});

/** Aborts the wait before the first retry and returns its planned duration. */
async function firstWait(server: { url: string }, options: ClientOptions = {}) {
  const controller = new AbortController();
  const waits: number[] = [];
  const onAttempt = ({ retryInMs }: AttemptEvent) => {
    waits.push(retryInMs ?? -1);
    setImmediate(() => controller.abort('enough'));
  };
  const startedAt = performance.now();
  const client = clientOf(server, { ...options, onAttempt });
  const error = await failure(client.get('mem_1', { signal: controller.signal }));
  return { error, waitMs: waits[0], tookMs: performance.now() - startedAt };
}

test('the error from a save aborted between attempts has its idempotency key', async () => {
  using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '50' }));
  const controller = new AbortController();
  const onAttempt = () => void setImmediate(() => controller.abort());
  const { signal } = controller;
  const save = clientOf(server, { onAttempt }).save({ userId: 'u-1', content: 'x' }, { signal });
  const error = await failure(save);
  expect(error).toBeInstanceOf(AbortError);
  const sent = server.requests[0]?.headers.get('Idempotency-Key');
  expect(error.idempotencyKey).toBe(sent ?? 'a key');
});

test('an abort during a wait leaves no timer that keeps the process alive', async () => {
  using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '50' }));
  using set = spyOn(globalThis, 'setTimeout');
  using clear = spyOn(globalThis, 'clearTimeout');
  await firstWait(server);
  const waits = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === 50_000);
  const cleared: unknown[] = clear.mock.calls.map(([timer]) => timer);
  expect(waits).toHaveLength(1);
  expect(cleared.includes(waits[0]?.value)).toBe(true);
});
