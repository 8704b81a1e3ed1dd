import type { RecordType } from '../../sdk/index.ts';
import type { Line } from './lines.ts';
import { type BadLine, type Entry, isBad, parseRecord } from './records.ts';

/** Records that go in one request. `end` is how far into the file it reaches, in bytes. */
export type Chunk = { key: string; entries: Entry[]; end: number };

export type ChunkOptions = {
  type: RecordType | undefined;
  /** Put before the place of each chunk instead of a key made from its content. */
  idempotencyKey: string | undefined;
  onBad(bad: BadLine): Promise<void>;
};

const linesInChunk = 100;
/** Well below the body limit of 5 MiB: JSON written anew may be a little longer than it was. */
const bytesInChunk = 4 * 1024 * 1024;

/**
 * Groups lines by their place: every hundred lines begin anew, so that a change in the file
 * leaves the chunks of the other hundreds, and so their keys, as they were.
 */
export async function* chunkLines(
  lines: AsyncIterable<Line>,
  options: ChunkOptions,
): AsyncGenerator<Chunk> {
  let seen = 0;
  let part = 0;
  let size = 0;
  let end = 0;
  let entries: Entry[] = [];
  const take = (): Chunk => {
    const group = Math.floor((seen - 1) / linesInChunk);
    const chunk = { key: keyOf(`${group}.${part}`, entries, options), entries, end };
    part += 1;
    size = 0;
    entries = [];
    return chunk;
  };
  for await (const line of lines) {
    if (seen > 0 && seen % linesInChunk === 0) {
      if (entries.length > 0) yield take();
      part = 0;
    }
    const parsed = parseRecord(line, options.type);
    if (!isBad(parsed) && entries.length > 0 && size + line.bytes.length > bytesInChunk) {
      yield take();
    }
    seen += 1;
    end = line.end;
    if (isBad(parsed)) {
      await options.onBad(parsed);
    } else {
      entries.push(parsed);
      size += line.bytes.length;
    }
  }
  if (entries.length > 0) yield take();
}

/** Half a chunk, for a service that takes less than we thought. */
export function halves(chunk: Chunk): Chunk[] {
  const middle = Math.ceil(chunk.entries.length / 2);
  return [chunk.entries.slice(0, middle), chunk.entries.slice(middle)].map((entries, index) => ({
    ...chunk,
    entries,
    key: `${chunk.key}/${index}`,
  }));
}

/** The same lines at the same place give the same key, so sending them again is a replay. */
function keyOf(place: string, entries: Entry[], { type, idempotencyKey }: ChunkOptions): string {
  if (idempotencyKey !== undefined) return `${idempotencyKey}:${place}`;
  const hash = new Bun.CryptoHasher('sha256').update(`${place}\n${type ?? ''}\n`);
  for (const { text } of entries) hash.update(`${text}\n`);
  return `batch-${hash.digest('hex')}`;
}
