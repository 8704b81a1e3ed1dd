import type { RecordType } from '../../sdk/index.ts';
import type { Line } from './input.ts';
import { type BadLine, type Entry, isBad, pairOf, parseRecord } from './records.ts';

/**
 * The records of one request, and the invalid lines between them. `end` is the byte offset of the
 * end of the chunk in the file. If `key` is undefined, the client generates a key.
 */
export type Chunk = { key: string | undefined; entries: Entry[]; bad: BadLine[]; end: number };

type ChunkOptions = {
  type?: RecordType | undefined;
  keyOf(place: string, entries: Entry[]): string | undefined;
};

/**
 * Larger chunks are faster and use less of the rate limit. However, if a line changes, its whole
 * chunk is sent again.
 */
const linesInChunk = 500;
/**
 * Well below 1 MiB, the default body limit of nginx. If a 413 splits a chunk, its halves have
 * different keys from the whole chunk. If the limit then changed, a resumed run would duplicate it.
 */
const bytesInChunk = 900_000;

/**
 * Groups lines by position: a new chunk starts every `linesInChunk` lines, so a change in one part
 * of the file leaves the other chunks and their keys unchanged.
 */
export async function* chunkLines(
  lines: AsyncIterable<Line>,
  options: ChunkOptions,
): AsyncGenerator<Chunk> {
  const { type, keyOf } = options;
  let seen = 0;
  let part = 0;
  let size = 0;
  let end = 0;
  let entries: Entry[] = [];
  let bad: BadLine[] = [];
  const take = (): Chunk => {
    const group = Math.floor((seen - 1) / linesInChunk);
    const chunk = { key: keyOf(`${group}.${part}`, entries), entries, bad, end };
    part += 1;
    size = 0;
    entries = [];
    bad = [];
    return chunk;
  };
  for await (const line of lines) {
    if (seen > 0 && seen % linesInChunk === 0) {
      if (entries.length + bad.length > 0) yield take();
      part = 0;
    }
    const parsed = parseRecord(line, type);
    if (!isBad(parsed) && entries.length > 0 && size + line.bytes.length > bytesInChunk) {
      yield take();
    }
    seen += 1;
    end = line.end;
    if (isBad(parsed)) {
      bad.push(parsed);
    } else {
      entries.push(parsed);
      size += line.bytes.length;
    }
  }
  if (entries.length + bad.length > 0) yield take();
}

/** Splits a chunk in half, for a service with a smaller body limit than expected. */
export function halves(chunk: Chunk): Chunk[] {
  const { key, entries } = chunk;
  const middle = Math.ceil(entries.length / 2);
  return [entries.slice(0, middle), entries.slice(middle)].map((half, index) => ({
    ...chunk,
    bad: [],
    entries: half,
    key: key === undefined ? undefined : `${key}/${index}`,
  }));
}

/**
 * Moves the records with an external id to a request with a new key. Sending these records again
 * creates no duplicates and restores memories that have been changed or deleted, which a replay
 * would not do.
 */
export function apart(chunk: Chunk): Chunk[] {
  const { bare = [], named = [] } = Object.groupBy(chunk.entries, (entry) =>
    isBare(entry) ? 'bare' : 'named',
  );
  return [
    { ...chunk, entries: bare },
    { ...chunk, entries: named, key: undefined },
  ];
}

function isBare(entry: Entry): boolean {
  return pairOf(entry) === undefined;
}

/**
 * Derives the key from the position of the chunk and its lines without an external id, so sending
 * these lines again is a replay. If the caller supplies a key, the position is appended to it.
 */
export function keyOfChunk(
  place: string,
  entries: Entry[],
  { type, idempotencyKey }: { type?: RecordType | undefined; idempotencyKey?: string | undefined },
): string {
  if (idempotencyKey !== undefined) return `${idempotencyKey}:${place}`;
  const hash = new Bun.CryptoHasher('sha256').update(`${place}\n${type ?? ''}\n`);
  for (const { text } of entries.filter(isBare)) hash.update(`${text}\n`);
  return `batch-${hash.digest('hex')}`;
}
