import type { ChunkTable } from './chunk-table.ts';
import type { Dictionary } from './dictionary.ts';
import type { MemoryTable } from './memory-table.ts';

/** All chunks of a user in order of time, as columns. A chunk's index is called its rank. */
export type Timeline = {
  dictionary: Dictionary;
  /** The tokens of all chunks; those of rank n run from `starts[n]` to `ends[n]`, exclusive. */
  tokens: Uint32Array;
  starts: Uint32Array;
  ends: Uint32Array;
  tokenCount: number;
  /** `isTurn`, `isMessage` and `isReply` of each chunk. */
  flags: Uint8Array;
  /** The day of each chunk, plus `dayOffset`, or 0. */
  days: Uint32Array;
  /** The index of each chunk's memory, oldest first, and the chunk's row in the chunk table. */
  memories: Uint32Array;
  chunks: Uint32Array;
};

/** The size of the columns in bytes per chunk. */
export const timelineBytes = 21;

export function buildTimeline(memories: MemoryTable, table: ChunkTable): Timeline {
  memories.order();
  let total = 0;
  for (let ordinal = 0; ordinal < memories.size; ordinal += 1)
    total += memories.chunksAt(ordinal).count;
  const timeline = emptyTimeline(table, total);
  let rank = 0;
  for (let ordinal = 0; ordinal < memories.size; ordinal += 1) {
    const { first, count } = memories.chunksAt(ordinal);
    for (let chunk = first; chunk < first + count; chunk += 1) {
      timeline.starts[rank] = table.firstTokens.at(chunk);
      timeline.ends[rank] = table.firstTokens.at(chunk + 1);
      timeline.flags[rank] = table.flags.at(chunk);
      timeline.days[rank] = table.days.at(chunk);
      timeline.memories[rank] = ordinal;
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
    flags: new Uint8Array(length),
    days: new Uint32Array(length),
    memories: new Uint32Array(length),
    chunks: new Uint32Array(length),
  };
}
