import type { Memory } from '../../sdk/contract/memory.ts';
import type { Page } from '../../sdk/contract/page.ts';
import type { Health } from '../../sdk/contract/status.ts';
import { until } from '../support/until.ts';
import type { Violations } from './harness.ts';
import type { Target } from './target.ts';

/** A request to the API. A write with an idempotency key can be retried safely. */
export type Call = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** What to send instead of `body` as JSON. A `chunked` body has no length. */
  bytes?: Uint8Array;
  chunked?: true;
  idempotencyKey?: string;
};

export type Reply = { status: number; text: string; headers: Headers };

const answerWithinMs = 5_000;

/** Sends the request once. Returns null if no response arrived; the outcome is then unknown. */
export async function send(
  target: Pick<Target, 'url' | 'key'>,
  { method, path, body, chunked, idempotencyKey, ...call }: Call,
  signal = AbortSignal.timeout(answerWithinMs),
): Promise<Reply | null> {
  const bytes = call.bytes ?? (body === undefined ? undefined : JSON.stringify(body));
  try {
    const response = await fetch(target.url + path, {
      method,
      headers: {
        authorization: `Bearer ${target.key}`,
        accept: 'application/json, text/event-stream',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(bytes !== undefined && { 'content-type': 'application/json' }),
      },
      ...(bytes !== undefined && { body: chunked ? new Blob([bytes]).stream() : bytes }),
      signal,
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  } catch {
    return null;
  }
}

/**
 * Sends a write and retries it with the same key, across restarts of the server, until its outcome
 * is known. Calls `onUnknown` after each attempt that receives a 5xx response or no response.
 */
export async function sendUntilKnown(
  target: Target,
  call: Call,
  onUnknown = () => {},
): Promise<Reply> {
  for (;;) {
    await target.whenUp();
    const reply = await send(target, call);
    if (reply !== null && reply.status < 500) return reply;
    onUnknown();
    await Bun.sleep(5);
  }
}

/** Like `sendUntilKnown`, but returns the body of the response, and throws if it is an error. */
export async function sendOrThrow<T>(target: Target, call: Call): Promise<T> {
  const { status, text } = await sendUntilKnown(target, call);
  if (status < 300) return JSON.parse(text) as T;
  throw new Error(`${call.method} ${call.path}: ${status} ${text}`);
}

export function saveOf(userId: string, content: string): Call {
  return { method: 'POST', path: '/v1/memories', body: { userId, content } };
}

/** Sends a GET request. Throws unless the response is 200. */
export async function read<T>(target: Target, path: string): Promise<T> {
  const reply = await send(target, { method: 'GET', path });
  if (reply?.status !== 200) throw new Error(`GET ${path}: ${reply?.status ?? 'no response'}`);
  return JSON.parse(reply.text) as T;
}

export async function find(target: Target, id: string): Promise<Memory | null> {
  const reply = await send(target, { method: 'GET', path: `/v1/memories/${id}` });
  if (reply?.status === 404) return null;
  if (reply?.status !== 200) throw new Error(`GET ${id}: ${reply?.status ?? 'no response'}`);
  return JSON.parse(reply.text) as Memory;
}

export async function listAll(target: Target, userId: string): Promise<Memory[]> {
  const memories: Memory[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const query = `userId=${encodeURIComponent(userId)}&limit=100${after}`;
    const page: Page = await read<Page>(target, `/v1/memories?${query}`);
    memories.push(...page.items);
    cursor = page.nextCursor;
  }
  return memories;
}

/** A service that is not healthy for a moment may not know what is pending. */
export async function isDrained(target: Target): Promise<boolean> {
  const health = await send(target, { method: 'GET', path: '/health' });
  return health?.status === 200 && (JSON.parse(health.text) as Health).pending === 0;
}

/** Waits until the queue is empty. */
export async function expectDrained(target: Target, timeoutMs: number, violations: Violations) {
  const drained = until(() => isDrained(target), { timeoutMs, what: 'an empty queue' });
  await drained.catch((error) => violations.add(String(error)));
}
