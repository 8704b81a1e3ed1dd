import { setTimeout } from 'node:timers/promises';
import type { BatchAccepted, IngestRecord, MemoryClient } from '../../sdk/index.ts';
import type { Io } from '../io.ts';
import { type Chunk, halves } from './chunks.ts';
import type { Report } from './report.ts';

/** What was accepted: now, or by an earlier run. The ids are only kept to be waited for. */
export type Tally = { accepted: number; replayed: number; memoryIds: Set<string> | null };

const busyMs = 5_000;
/** A slow disk on the other side must not fail a chunk that is about to be accepted. */
const chunkTimeoutMs = 120_000;

/**
 * Sends one chunk and notes what became of each record. What says nothing about the records
 * themselves (no connection, a refused key) throws, and ends the run.
 */
export async function sender(io: Io, client: MemoryClient, report: Report, tally: Tally) {
  const { InvalidRequestError, PayloadTooLargeError, RateLimitError } = await import(
    '../../sdk/index.ts'
  );
  return async function send(chunk: Chunk): Promise<void> {
    // Here they are any JSON; the service judges each by itself.
    const items = chunk.entries.map(({ item }) => item) as IngestRecord[];
    const call = { idempotencyKey: chunk.key, signal: io.interrupted, timeoutMs: chunkTimeoutMs };
    try {
      const { data, response } = await client.ingest.batch({ items }, call).withResponse();
      count(tally, data, response.idempotencyStatus === 'replayed');
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

function count(tally: Tally, { accepted, items }: BatchAccepted, replayed: boolean): void {
  tally[replayed ? 'replayed' : 'accepted'] += accepted;
  for (const { memoryId } of items) tally.memoryIds?.add(memoryId);
}

async function reportFailed(report: Report, { entries }: Chunk, { failed }: BatchAccepted) {
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
