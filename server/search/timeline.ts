import { type ChunkTable, inConversation, isTurn } from './chunk-table.ts';
import type { Dictionary } from './dictionary.ts';
import type { MemoryTable } from './memory-table.ts';
import { endsLabel, inLabel, wordOf } from './tokenizer.ts';

/** All chunks of a user in order of time, as columns. A chunk's index is called its rank. */
export type Timeline = {
  dictionary: Dictionary;
  /** The tokens of all chunks; those of rank n run from `starts[n]` to `ends[n]`, exclusive. */
  tokens: Uint32Array;
  starts: Uint32Array;
  ends: Uint32Array;
  tokenCount: number;
  /** The flags of each chunk. `isTurn` means that its label names a speaker. */
  flags: Uint8Array;
  /** The day of each chunk, plus `dayOffset`, or 0. */
  days: Uint32Array;
  /** The index of each chunk's memory, oldest first, and the chunk's row in the chunk table. */
  memories: Uint32Array;
  chunks: Uint32Array;
};

/** The size of the columns in bytes per chunk. */
export const timelineBytes = 21;

/** Fewer chunks with the same label are not turns: "Pocket money: …" is a note about a topic. */
const minTurns = 3;

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
  keepTurns(timeline);
  return timeline;
}

/**
 * Clears `isTurn` of chunks whose first label does not recur, because a speaker says more. In a
 * conversation, labels are speakers', however many chunks begin with each. A label between two
 * turns of one speaker is that of who answers.
 */
function keepTurns({ flags, starts, ends, tokens }: Timeline): void {
  const labels = new Int32Array(flags.length);
  const counts = new Map<number, number>();
  for (let rank = 0; rank < flags.length; rank += 1) {
    if (((flags[rank] ?? 0) & isTurn) === 0) continue;
    const label = hashOfLabel(tokens, starts[rank] ?? 0, ends[rank] ?? 0);
    labels[rank] = label;
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const isSpeaker = (rank: number) => (counts.get(labels[rank] ?? 0) ?? 0) >= minTurns;
  for (let rank = 0; rank < flags.length; rank += 1) {
    const flag = flags[rank] ?? 0;
    if ((flag & (isTurn | inConversation)) !== isTurn) continue;
    const isAnswer = isSpeaker(rank - 1) && labels[rank - 1] === labels[rank + 1];
    if (isSpeaker(rank) || isAnswer) continue;
    flags[rank] = flag & ~isTurn;
  }
}

/** FNV-1a of the words of the first label. Labels that collide count as one. */
function hashOfLabel(tokens: Uint32Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) {
    const token = tokens[at] ?? 0;
    if ((token & inLabel) !== 0) hash = Math.imul(hash ^ wordOf(token), 0x01000193);
    if ((token & endsLabel) !== 0) break;
  }
  return hash | 0;
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
