import type { CallOptions } from '../../sdk/index.ts';
import { patientRequests } from '../client/patience.ts';
import { messageOf } from '../client/service-errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Entry, isRejected, pairOf, type Rejected } from './records.ts';
import type { Done, Result } from './report.ts';

/**
 * The records of a part of the input, and the invalid ones between them. `position` identifies the
 * part; `bytes` is its length.
 */
type Chunk = { position: string; entries: Entry[]; rejected: Rejected[]; bytes: number };

/** The records of one request, with its idempotency key. */
type Part = { key: string; entries: Entry[] };

/**
 * Larger chunks are faster and use less of the rate limit. However, if a record changes, its whole
 * chunk is sent again.
 */
const recordsInGroup = 500;
/**
 * Well below 1 MiB, the default body limit of nginx. If a chunk is split because of a 413, its
 * halves have different keys from the whole chunk. If the limit changed afterwards, a second run
 * would duplicate the records of the chunk.
 */
const bytesInChunk = 900_000;

/**
 * Groups records by position: a new group starts every `recordsInGroup` records, so a change in one
 * part of the input leaves the other groups and their keys unchanged. A group of long records
 * becomes several chunks.
 */
export async function* chunksOf(all: AsyncIterable<Entry | Rejected>): AsyncGenerator<Chunk> {
  let [seen, group, part, size] = [0, 0, 0, 0];
  let chunk: Chunk = { position: '0.0', entries: [], rejected: [], bytes: 0 };
  for await (const one of all) {
    const groupOfRecord = Math.floor(seen / recordsInGroup);
    const bytes = Buffer.byteLength(one.text);
    const isFull = !isRejected(one) && size > 0 && size + bytes > bytesInChunk;
    if (groupOfRecord !== group || isFull) {
      yield chunk;
      part = groupOfRecord === group ? part + 1 : 0;
      group = groupOfRecord;
      size = 0;
      chunk = { position: `${group}.${part}`, entries: [], rejected: [], bytes: 0 };
    }
    seen += 1;
    chunk.bytes += bytes + 1;
    if (isRejected(one)) {
      chunk.rejected.push(one);
    } else {
      chunk.entries.push(one);
      size += bytes;
    }
  }
  if (seen > 0) yield chunk;
}

/**
 * Divides a chunk into requests. The key of records without an external id is derived from their
 * text and position, so sending them again is a replay. Records with an external id are sent with a
 * new key: this creates no duplicates and restores memories that have been changed or deleted,
 * which a replay would not do. If the caller supplies a key, the position is appended to it.
 */
export function partsOf(
  { position, entries }: Chunk,
  { type = '', idempotencyKey }: { type?: string | undefined; idempotencyKey?: string | undefined },
): Part[] {
  if (idempotencyKey !== undefined) return [{ key: `${idempotencyKey}:${position}`, entries }];
  const { bare = [], named = [] } = Object.groupBy(entries, (entry) =>
    pairOf(entry) === undefined ? 'bare' : 'named',
  );
  const hash = new Bun.CryptoHasher('sha256').update(`${position}\n${type}\n`);
  for (const { text } of bare) hash.update(`${text}\n`);
  return [
    { key: `batch-${hash.digest('hex')}`, entries: bare },
    { key: crypto.randomUUID(), entries: named },
  ];
}

/** Splits a request in half, for a service with lower limits than expected. */
function halves({ key, entries }: Part): Part[] {
  const middle = Math.ceil(entries.length / 2);
  return [
    { key: `${key}/0`, entries: entries.slice(0, middle) },
    { key: `${key}/1`, entries: entries.slice(middle) },
  ];
}

/** Sends the records of one request. Invalid records fail individually. */
export type Post = (entries: Entry[], call: CallOptions) => Promise<Done & { failed: Failed[] }>;
type Failed = { index: number; error: string; message: string };

/** Longer than the default, because a slow server needs more time for a large chunk. */
const requestTimeoutMs = 120_000;

/**
 * Returns a function that sends requests in sequence, repeats them while the service returns 429 or
 * restarts, and splits requests that are too large. Other errors that do not concern individual
 * records, such as a rejected key, are thrown and end the run.
 */
export async function partsSender(term: Terminal, post: Post) {
  const sdk = await import('../../sdk/index.ts');
  const request = await patientRequests(term);

  async function sendPart(part: Part): Promise<Result[]> {
    const { entries, key } = part;
    const call = { idempotencyKey: key, signal: term.interrupted, timeoutMs: requestTimeoutMs };
    try {
      const { failed, ...done } = await request(() => post(entries, call));
      const rejected = failed.flatMap(({ index, error, message }) =>
        entries.slice(index, index + 1).map(({ where, text }) => ({ where, text, error, message })),
      );
      return [{ ...done, rejected }];
    } catch (error) {
      return onError(part, error);
    }
  }

  async function onError(part: Part, error: unknown): Promise<Result[]> {
    const isTooLarge = error instanceof sdk.PayloadTooLargeError;
    if (!isTooLarge && !(error instanceof sdk.InvalidRequestError)) throw error;
    // A body is also invalid if its JSON has too many values or levels. Other errors, such as a
    // reused key, concern every part.
    const mayFit = isTooLarge || error.code === 'invalid_request';
    if (mayFit && part.entries.length > 1) return sendParts(halves(part));
    const why = { error: isTooLarge ? 'payload_too_large' : error.code, message: messageOf(error) };
    const rejected = part.entries.map(({ where, text }) => ({ where, text, ...why }));
    return [{ counts: {}, rejected }];
  }

  async function sendParts(parts: Part[]): Promise<Result[]> {
    const sent: Result[] = [];
    for (const part of parts.filter(({ entries }) => entries.length > 0)) {
      sent.push(...(await sendPart(part)));
    }
    return sent;
  }
  return sendParts;
}
