import { setTimeout } from 'node:timers/promises';
import type { ApiPromise, CallOptions } from '../../sdk/index.ts';
import type { Io } from '../io.ts';
import { type Chunk, halves } from './chunks.ts';
import type { Report } from './report.ts';

/** What operations on many answer with: bad items fail alone. */
export type Answered = { failed: { index: number; error: string; message: string }[] };

/** The operation that takes the items of a chunk. Here they are any JSON; the service judges. */
export type Post<Answer extends Answered> = (
  items: unknown[],
  options: CallOptions,
) => ApiPromise<Answer>;

const busyMs = 5_000;
/** A slow disk on the other side must not fail a chunk that is about to be accepted. */
const chunkTimeoutMs = 120_000;

/**
 * Sends one chunk and notes what became of each record. What says nothing about the records
 * themselves (no connection, a refused key) throws, and ends the run.
 */
export async function sender<Answer extends Answered>(
  io: Io,
  report: Report,
  post: Post<Answer>,
  count: (answer: Answer, replayed: boolean) => void,
) {
  const { InvalidRequestError, PayloadTooLargeError, RateLimitError } = await import(
    '../../sdk/index.ts'
  );
  return async function send(chunk: Chunk): Promise<void> {
    const items = chunk.entries.map(({ item }) => item);
    const call = { idempotencyKey: chunk.key, signal: io.interrupted, timeoutMs: chunkTimeoutMs };
    try {
      const { data, response } = await post(items, call).withResponse();
      count(data, response.idempotencyStatus === 'replayed');
      await reportFailed(report, chunk, data);
    } catch (error) {
      if (error instanceof PayloadTooLargeError && items.length > 1) {
        for (const half of halves(chunk)) await send(half);
      } else if (error instanceof PayloadTooLargeError || error instanceof InvalidRequestError) {
        await reportAll(report, chunk, error);
      } else if (error instanceof RateLimitError) {
        // The service has enough for now; a long file is in no hurry.
        await setTimeout(error.retryAfterMs ?? busyMs, undefined, { signal: io.interrupted });
        await send(chunk);
      } else {
        throw error;
      }
    }
  };
}

async function reportFailed(report: Report, { entries }: Chunk, { failed }: Answered) {
  for (const { index, error, message } of failed) {
    const { line = 0, text = '' } = entries[index] ?? {};
    await report.bad({ line, error, message, text });
  }
}

async function reportAll(
  report: Report,
  { entries }: Chunk,
  { code, message }: { code: string; message: string },
) {
  for (const { line, text } of entries) await report.bad({ line, error: code, message, text });
}
