import { ChunkTable, type IndexedChunk } from './chunk-table.ts';
import { type Column, joinColumns, splitColumns } from './columns.ts';
import { Matcher } from './match.ts';
import { addMeaning, type Meaning, vectorRows } from './meaning.ts';
import { MemoryTable } from './memory-table.ts';
import { preferNewer } from './newer.ts';
import type { Query } from './query.ts';
import { Ranked, type RankedMemory } from './ranked.ts';
import { bestChunks, type ChunkScores, scaleOthers, scoreChunks } from './ranking.ts';
import { buildTimeline, type Timeline, timelineBytes } from './timeline.ts';
import type { VectorTable } from './vector-table.ts';
import { type SearchWeights, searchWeights } from './weights.ts';

/** The approximate size of an index's objects, without their contents. */
const bytesPerIndex = 5 * 1024;

/**
 * The version of stored indexes. It changes with their columns, and with everything that decides
 * which tokens a text has and into which chunks it is cut.
 */
export const indexFormat = 8;

/** A memory in the index. Searches do not find a memory without chunks. */
export type IndexedMemory = { id: string; createdAt: number; chunks: readonly IndexedChunk[] };

/** The rows of the chunks' vectors, for one state of the timeline and of the vectors. */
type VectorRows = { timeline: Timeline; table: VectorTable; version: number; rows: Int32Array };

/**
 * The index is compacted when more tokens or memories than this have been removed, and the removed
 * ones outnumber the live ones.
 */
const minRemoved = 16_384; // mutate-ignore constant: affects only cost

/**
 * The in-memory search index of one user. Memories are ordered by time and id, their chunks by
 * position in the text. Memories may be added in any order; adding the newest is the fast case.
 *
 * A search reads all of the user's tokens, four bytes each, at about a nanosecond per token.
 * Posting lists would make searches for rare words faster, but they would double the memory and
 * slow down every change, and they would not help with common words or the neighbours of a hit.
 *
 * @example
 * const index = new SearchIndex();
 * index.put({ id: 'mem_1', createdAt: 1, chunks: indexedChunks(content, metadata) });
 * const [best] = index.search(parseQuery('green tea'));
 */
export class SearchIndex {
  readonly #seed: number;
  #memories = new MemoryTable();
  #table: ChunkTable;
  /** Null after a change, until the next search rebuilds the timeline. */
  #timeline: Timeline | null = null;
  #rows: VectorRows | null = null;

  /** A secret seed prevents clients from choosing words that collide in the dictionary. */
  constructor(seed = 0) {
    this.#seed = seed;
    this.#table = new ChunkTable(seed);
  }

  /** Restores an index that `toBytes` has returned. It must not be empty. */
  static fromBytes(bytes: Uint8Array): SearchIndex {
    const { first: seed, columns } = splitColumns(bytes);
    const index = new SearchIndex(seed);
    const filled = index.#columns();
    for (const [at, column] of columns.entries()) filled[at]?.fill(column);
    return index;
  }

  /** Returns the index as it is to be stored. Nothing of removed memories is in it. */
  toBytes(): Uint8Array {
    if (this.#memories.emptySlots > 0) this.#compact();
    this.#memories.order();
    const columns = this.#columns().map((column) => column.toBytes());
    return joinColumns(this.#seed, columns);
  }

  /** Frees the columns at once. The index must not be used any more. */
  release(): void {
    for (const column of this.#columns()) column.fill(new Uint8Array());
  }

  #columns(): Column[] {
    return [...this.#memories.columns(), ...this.#table.columns()];
  }

  put({ id, createdAt, chunks }: IndexedMemory): void {
    this.remove(id);
    const range = { first: this.#table.length, count: chunks.length };
    for (const chunk of chunks) this.#table.add(chunk);
    this.#memories.add(id, createdAt, range);
    this.#timeline = null;
  }

  remove(id: string): void {
    const removed = this.#memories.remove(id);
    if (removed === null) return;
    this.#table.release(removed);
    this.#timeline = null;
    if (this.#isMostlyRemoved()) this.#compact();
  }

  /** The number of memories, with or without chunks. */
  get size(): number {
    return this.#memories.size;
  }

  /** The memory in use, in bytes: all columns at their capacity, and an estimate for the ids. */
  get bytes(): number {
    const columns = this.#memories.bytes + this.#table.bytes;
    return bytesPerIndex + columns + this.#table.length * timelineBytes;
  }

  /** The id of a memory, by its position in the order of time and id. */
  idAt(ordinal: number): string {
    this.#memories.order();
    return this.#memories.idAt(ordinal);
  }

  timeAt(ordinal: number): number {
    this.#memories.order();
    return this.#memories.timeAt(ordinal);
  }

  /** Ranks the memories that match. Read the results before changing the index. */
  search(
    query: Query,
    weights: SearchWeights = searchWeights,
    meaning: Meaning | null = null,
  ): Ranked {
    this.#timeline ??= buildTimeline(this.#memories, this.#table);
    const timeline = this.#timeline;
    const matcher = new Matcher(query, weights);
    const chunkScores = scoreChunks(timeline, matcher, weights);
    const rows = meaning === null ? null : this.#rowsOf(timeline, meaning.table);
    if (meaning !== null && rows !== null) {
      addMeaning(chunkScores, timeline, rows, meaning, weights);
    }
    if (query.asksAssistant) scaleOthers(chunkScores, timeline, weights.notReply);
    const results = bestChunks(timeline, chunkScores);
    if (meaning !== null && rows !== null && query.asksPresent && query.dates.length === 0) {
      const createdAt = (memory: number) => this.#memories.timeAt(memory);
      preferNewer(timeline, results, { rows, table: meaning.table, createdAt }, weights);
    }
    const { ranks, scores } = results;
    return new Ranked({ matcher, rarity: chunkScores.rarity }, scores, (result) => {
      const rank = ranks[result] ?? 0;
      return this.#resultOf(timeline, rank, scores[result] ?? 0, chunkScores);
    });
  }

  #rowsOf(timeline: Timeline, table: VectorTable): Int32Array {
    const known = this.#rows;
    if (known?.timeline === timeline && known.table === table && known.version === table.version) {
      return known.rows;
    }
    const rows = vectorRows(timeline, table, (memory) => this.#memories.idAt(memory));
    this.#rows = { timeline, table, version: table.version, rows };
    return rows;
  }

  #resultOf(
    timeline: Timeline,
    rank: number,
    score: number,
    { words, phrases, meaning }: ChunkScores,
  ): RankedMemory {
    if (timeline !== this.#timeline) throw new Error('the index was changed after this search');
    const chunk = timeline.chunks[rank] ?? 0;
    const parts = {
      words: words[rank] ?? 0,
      phrase: phrases[rank] ?? 0,
      meaning: meaning?.scores[rank] ?? 0,
    };
    return {
      id: this.#memories.idAt(timeline.memories[rank] ?? 0),
      start: this.#table.starts.at(chunk),
      length: this.#table.lengths.at(chunk),
      score,
      parts: { ...parts, date: score - (parts.words + parts.phrase + parts.meaning) },
      isMeant: meaning !== null && (meaning.cosines[rank] ?? Number.NaN) >= meaning.found,
    };
  }

  #isMostlyRemoved(): boolean {
    const { tokens, liveTokens } = this.#table;
    const removedTokens = tokens.length - liveTokens;
    const { emptySlots, size } = this.#memories;
    return (
      removedTokens > Math.max(minRemoved, liveTokens) || emptySlots > Math.max(minRemoved, size)
    );
  }

  #compact(): void {
    this.#memories.order();
    const memories = new MemoryTable();
    const table = new ChunkTable(this.#seed);
    const copy = this.#table.copier(table);
    for (let ordinal = 0; ordinal < this.#memories.size; ordinal += 1) {
      const { first, count } = this.#memories.chunksAt(ordinal);
      const range = { first: table.length, count };
      for (let chunk = first; chunk < first + count; chunk += 1) copy(chunk);
      memories.add(this.#memories.idAt(ordinal), this.#memories.timeAt(ordinal), range);
    }
    this.#memories = memories;
    this.#table = table;
    this.#timeline = null;
  }
}
