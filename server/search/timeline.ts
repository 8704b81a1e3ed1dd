import type { ChunkTable } from './chunk-table.ts';
import type { Dictionary } from './dictionary.ts';
import type { MemoryTable } from './memory-table.ts';

/**
 * All chunks of a user in order of time, as columns; a chunk's place in them is its rank. This is
 * what a search reads of an index.
 */
export type Timeline = {
  dictionary: Dictionary;
  /** Tokens of all chunks; those of one are from `starts` to `ends`. */
  tokens: Uint32Array;
  starts: Uint32Array;
  ends: Uint32Array;
  /** Of all chunks in sum. */
  tokenCount: number;
  /** 1 where the chunk says who speaks. */
  labelled: Uint8Array;
  /** The place of each chunk's memory, oldest first, and the chunk's own in its table. */
  memories: Uint32Array;
  chunks: Uint32Array;
};

/** Bytes of the columns for each chunk. */
export const timelineBytes = 17;

export function buildTimeline(memories: MemoryTable, table: ChunkTable): Timeline {
  const ranges = Array.from({ length: memories.size }, (_, place) => memories.chunksAt(place));
  const total = ranges.reduce((sum, { count }) => sum + count, 0);
  const timeline = emptyTimeline(table, total);
  let rank = 0;
  for (const [place, { first, count }] of ranges.entries()) {
    for (let chunk = first; chunk < first + count; chunk += 1) {
      timeline.starts[rank] = table.firstTokens.at(chunk);
      timeline.ends[rank] = table.firstTokens.at(chunk + 1);
      timeline.labelled[rank] = table.labelled.at(chunk);
      timeline.memories[rank] = place;
      timeline.chunks[rank] = chunk;
      rank += 1;
    }
  }
  return timeline;
}

function emptyTimeline({ dictionary, tokens, liveTokens }: ChunkTable, length: number): Timeline {
  return {
    dictionary,
    tokens: tokens.values,
    starts: new Uint32Array(length),
    ends: new Uint32Array(length),
    tokenCount: liveTokens,
    labelled: new Uint8Array(length),
    memories: new Uint32Array(length),
    chunks: new Uint32Array(length),
  };
}
