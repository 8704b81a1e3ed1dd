import { setTimeout } from 'node:timers/promises';
import type { ApiPromise, CallOptions } from '../../sdk/index.ts';
import { reportRetries } from '../client/connect.ts';
import { messageOf } from '../client/service-errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Chunk, halves } from './chunks.ts';
import { type BadLine, type Json, problemsOf, type Unit } from './records.ts';
import type { Result } from './report.ts';

/** The response of bulk operations, in which invalid items fail individually. */
type BulkAnswer = { failed: { index: number; error: string; message: string }[] };

type ChunkSender<Answer extends BulkAnswer> = {
  unit: Unit;
  post(items: Json[], options: CallOptions): ApiPromise<Answer>;
  /** Adds a response to the counts; returns how many records it completes. */
  count(answer: Answer, isReplay: boolean): number;
};

type Sent = { done: number; bad: BadLine[] };

const busyMs = 5_000;
/** Longer than the default, because a slow server needs more time for a large chunk. */
const chunkTimeoutMs = 120_000;

/** Repeats a request until the service no longer returns 429, because bulk commands can wait. */
export async function retryWhileBusy(term: Terminal) {
  const { RateLimitError } = await import('../../sdk/index.ts');
  const report = reportRetries(term);
  return async function send<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof RateLimitError)) throw error;
        const retryInMs = error.retryAfterMs ?? busyMs;
        report({ error, retryInMs });
        await setTimeout(retryInMs, undefined, { signal: term.interrupted });
      }
    }
  };
}

/**
 * Returns a function that sends the parts of a chunk in sequence. Errors that do not concern
 * individual records, such as a lost connection or a rejected key, are thrown and end the run.
 */
export async function chunkSender<Answer extends BulkAnswer>(
  term: Terminal,
  { unit, post, count }: ChunkSender<Answer>,
): Promise<(chunk: Chunk, parts: Chunk[]) => Promise<Result>> {
  const { InvalidRequestError, PayloadTooLargeError } = await import('../../sdk/index.ts');
  const send = await retryWhileBusy(term);
  async function sendPart({ entries, key }: Chunk): Promise<Sent> {
    const items = entries.map(({ item }) => item);
    // One key for all attempts, because an attempt without a response may have been executed.
    const idempotencyKey = key ?? crypto.randomUUID();
    const call = { idempotencyKey, signal: term.interrupted, timeoutMs: chunkTimeoutMs };
    const { data, response } = await send(() => post(items, call).withResponse());
    const bad = data.failed.flatMap(({ index, error, message }) =>
      entries.slice(index, index + 1).map(({ line, text }) => ({ line, error, message, text })),
    );
    return { done: count(data, response.idempotencyStatus === 'replayed'), bad };
  }
  async function onError(part: Chunk, error: unknown): Promise<Sent> {
    const isTooLarge = error instanceof PayloadTooLargeError;
    if (!isTooLarge && !(error instanceof InvalidRequestError)) throw error;
    // A body is also invalid if its JSON has too many values or levels. Other errors, such as a
    // reused key, concern every part.
    const mayFit = isTooLarge || error.code === 'invalid_request';
    if (mayFit && part.entries.length > 1) return sendParts(halves(part));
    const why = { error: isTooLarge ? 'payload_too_large' : error.code, message: messageOf(error) };
    return { done: 0, bad: part.entries.map(({ line, text }) => ({ line, ...why, text })) };
  }
  async function sendParts(parts: Chunk[]): Promise<Sent> {
    const sum: Sent = { done: 0, bad: [] };
    for (const part of parts.filter(({ entries }) => entries.length > 0)) {
      const { done, bad } = await sendPart(part).catch((error) => onError(part, error));
      sum.done += done;
      sum.bad.push(...bad);
    }
    return sum;
  }
  return async (chunk, parts) => {
    const { done, bad } = await sendParts(parts);
    return { done, problems: problemsOf(unit, [...chunk.bad, ...bad]) };
  };
}
