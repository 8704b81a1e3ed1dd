import { setTimeout } from 'node:timers/promises';
import type { ApiPromise, CallOptions, MemoryServiceError } from '../../sdk/index.ts';
import { reportRetries } from '../client/retries.ts';
import { saidOf } from '../client/service-errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Chunk, halves } from './chunks.ts';
import type { BadLine, Entry } from './records.ts';
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
  term: Terminal,
  report: Report,
  partsOf: (chunk: Chunk) => Chunk[],
  send: Post<Answer>,
  count: (answer: Answer, replayed: boolean, entries: Entry[]) => void,
) {
  const { InvalidRequestError, PayloadTooLargeError, RateLimitError } = await import(
    '../../sdk/index.ts'
  );
  const tell = reportRetries(term);
  /** The service has enough for now; a long file is in no hurry. */
  async function pause(error: MemoryServiceError): Promise<void> {
    const retryInMs = error.retryAfterMs ?? busyMs;
    tell({ error, retryInMs });
    await setTimeout(retryInMs, undefined, { signal: term.interrupted });
  }
  /** What the service did not take of a chunk. */
  async function post(chunk: Chunk): Promise<BadLine[]> {
    const { entries, key } = chunk;
    if (entries.length === 0) return [];
    const items = entries.map(({ item }) => item);
    const call = { idempotencyKey: key, signal: term.interrupted, timeoutMs: chunkTimeoutMs };
    try {
      const { data, response } = await send(items, call).withResponse();
      count(data, response.idempotencyStatus === 'replayed', entries);
      return data.failed.map(({ index, ...why }) => badLine(entries[index], why));
    } catch (error) {
      if (error instanceof PayloadTooLargeError && items.length > 1) {
        return (await inTurn(halves(chunk), post)).flat();
      }
      if (error instanceof PayloadTooLargeError || error instanceof InvalidRequestError) {
        const code = error instanceof PayloadTooLargeError ? 'payload_too_large' : error.code;
        const why = { error: code, message: saidOf(error) };
        return entries.map((entry) => badLine(entry, why));
      }
      if (!(error instanceof RateLimitError)) throw error;
      await pause(error);
      return post(chunk);
    }
  }
  let told = Promise.resolve();
  return async function sendChunk(chunk: Chunk): Promise<void> {
    const toldBefore = told;
    const { promise, resolve: tellNext } = Promise.withResolvers<void>();
    told = toldBefore.then(() => promise);
    try {
      const refused = (await inTurn(partsOf(chunk), post)).flat();
      const bad = [...chunk.bad, ...refused].sort((a, b) => a.line - b.line);
      // In the order of the file. Only bad lines wait, in the place of a request: so they are few.
      if (bad.length > 0) await toldBefore;
      for (const one of bad) await report.bad(one);
    } finally {
      tellNext();
    }
  };
}

async function inTurn<Item, Result>(items: Item[], work: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

function badLine(entry: Entry | undefined, why: { error: string; message: string }): BadLine {
  const { line = 0, text = '' } = entry ?? {};
  return { line, error: why.error, message: why.message, text };
}
