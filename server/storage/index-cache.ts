import { openScan } from '../embeddings/kernel-file.ts';
import { indexedChunks } from '../memory/chunks.ts';
import { count } from '../metrics/counts.ts';
import { indexFormat, SearchIndex } from '../search/index.ts';
import type { Meaning } from '../search/meaning.ts';
import { parseQuery } from '../search/query.ts';
import type { Ranked } from '../search/ranked.ts';
import { VectorTable } from '../search/vector-table.ts';
import { searchWeights } from '../search/weights.ts';
import { countText } from '../threads/garbage.ts';
import { announced, reportProgress } from '../threads/serve.ts';
import { unavailable } from './refusals.ts';
import { createSearchResults, type SearchResults } from './search-results.ts';
import type { MeaningUsed, Search } from './types/memories.ts';
import type { SearchMeaning } from './types/vectors.ts';

/*
 * The search indexes that a reader thread keeps in memory, one for each user whose memories were
 * searched recently. Before a search, the backend applies the rows that have changed since the
 * user's index was last updated.
 */

/** The memories that the user's changes after `after`, up to `upTo`, have written. */
export type VectorPart = { after: number; upTo: number; ids: string[] };

/** Vectors as stored, made for this change of the memory. */
export type StoredVectors = { id: string; change: number; data: Uint8Array };

/** A new or changed memory. Until it is searchable, the index contains its id but not its text. */
export type ChangedMemory = {
  id: string;
  createdAt: number;
  content: string;
  metadata: string;
  occurredAt: number | null;
  isSearchable: boolean | number;
  /** The user's change number when the memory was written, which its task may have outlasted. */
  memoryChange: number;
};

/** A cached index, and its size when it was last used. */
type Entry = { index: CachedIndex; bytes: number };

export type IndexCache = ReturnType<typeof createIndexCache>;

export function createIndexCache(maxBytes: number) {
  /** The indexes in order of use, with the most recently used last. */
  const cached = new Map<string, Entry>();
  /** Those that were used since `bytes` was updated. Only these may have changed their size. */
  const used = new Set<Entry>();
  /** The size of all indexes. */
  let bytes = 0;

  return {
    /** Returns a new index that is not kept. */
    create: () => new CachedIndex(),
    /** Returns the index with this name, or a new index, and marks it as most recently used. */
    get(name: string): CachedIndex {
      const known = cached.get(name);
      const result = known === undefined ? 'miss' : 'hit';
      count('memory_search_index_lookups_total', { result });
      const entry = known ?? { index: new CachedIndex(), bytes: 0 };
      cached.delete(name);
      cached.set(name, entry);
      used.add(entry);
      return entry.index;
    },
    /**
     * Drops the least recently used indexes until the rest fit within the limit. Keeps the most
     * recent index even if it exceeds the limit by itself. Otherwise, each search would rebuild it.
     */
    dropOldest(): void {
      for (const one of used) {
        bytes -= one.bytes;
        one.bytes = one.index.bytes;
        bytes += one.bytes;
      }
      used.clear();
      for (const [name, one] of cached) {
        // mutate-ignore boundary: no indexes have exactly this size
        if (bytes <= maxBytes || cached.size === 1) return;
        cached.delete(name);
        count('memory_search_index_evictions_total', {});
        bytes -= one.bytes;
        one.index.release();
      }
    },
    dropAll(): void {
      for (const { index } of cached.values()) index.release();
      cached.clear();
      used.clear();
      bytes = 0;
    },
  };
}

/** On a busy machine, a larger index or a longer text (in UTF-16 units) may take a second. */
const largeUnits = 500_000;
const largeIndexBytes = 16 * 1024 * 1024;
/** The maximum time that a search may spend updating its index. */
const budgetMs = 10_000;
/** About the size of the objects that are created for a row and its chunks, in bytes. */
const garbageOfRow = 500;

/** The hash seed of the indexes. It is secret so that clients cannot choose words that collide. */
const seed = crypto.getRandomValues(new Uint32Array(1))[0];

export class CachedIndex {
  /** The format of what `toBytes` returns. */
  readonly format = indexFormat;
  index = new SearchIndex(seed);
  /** The index contains all of the user's changes up to this change number. */
  lastChange = -1;
  /** The user's `snapshot_change` when the index was last used. */
  snapshotChange = -1;
  /** The number of memories that were added or changed since the user's snapshot. */
  unstored = 0;
  /** The vectors of one model, once a search has needed them. */
  vectors: CachedVectors | null = null;
  #deadline = 0;

  get bytes(): number {
    return this.index.bytes + (this.vectors?.table.bytes ?? 0);
  }

  /** Begins again without any memory. */
  clear(): void {
    Object.assign(this, new CachedIndex());
  }

  /** Begins with the bytes of an index that is complete up to this change. */
  restore(bytes: Uint8Array, change: number): void {
    this.index = SearchIndex.fromBytes(bytes);
    this.lastChange = change;
  }

  /** Frees the index, which must not be used any more. */
  release(): void {
    this.index.release();
  }

  /** Begins to apply changed memories, in batches of whole changes; see `complete`. */
  beginUpdate(): void {
    this.#deadline = performance.now() + budgetMs;
  }

  apply(changed: ChangedMemory): void {
    const { id, createdAt, content, metadata, occurredAt } = changed;
    const { isSearchable, memoryChange } = changed;
    this.vectors?.table.removeOlder(id, memoryChange);
    const put = () => {
      const chunks = isSearchable ? indexedChunks(content, metadata, occurredAt) : [];
      this.index.put({ id, createdAt, chunks });
      this.unstored += 1;
    };
    if (content.length > largeUnits) announced(put);
    else put();
    countText(content.length + garbageOfRow);
  }

  /**
   * Records that all changes up to this one have been applied. Throws if the update takes too long;
   * the next search continues with the remaining changes.
   */
  complete(change: number): void {
    this.lastChange = change;
    if (performance.now() > this.#deadline) {
      throw unavailable("this user's search index is still being built; try again");
    }
  }

  remove(id: string): void {
    reportProgress();
    this.index.remove(id);
    this.vectors?.table.remove(id);
  }

  /** Returns the vectors of this model. Vectors of another model are dropped. */
  vectorsOf({ modelId, dims }: { modelId: number; dims: number }): CachedVectors {
    if (this.vectors?.modelId !== modelId) this.vectors = new CachedVectors(modelId, dims);
    return this.vectors;
  }

  /** Ranks the memories, best first. A search cannot report progress while it runs. */
  search(read: Search): { ranked: Ranked; results: SearchResults } {
    const { index, vectors } = this;
    const { meaning: question = null } = read;
    const meaning = question === null || vectors === null ? null : vectors.meaningOf(question);
    const query = parseQuery(read.query, read.now);
    const search = () => index.search(query, searchWeights, meaning);
    const ranked = index.bytes > largeIndexBytes ? announced(search) : search();
    return { ranked, results: createSearchResults(ranked, read) };
  }

  /** Says for how many memories a search had vectors. */
  meaningUsed(meaning: SearchMeaning | null): MeaningUsed {
    if (meaning === null) return { meaning: 'off' };
    const missing = Math.max(0, this.index.size - (this.vectors?.table.size ?? 0));
    return missing === 0 ? { meaning: 'used' } : { meaning: 'partial', missing };
  }
}

/** The vectors of one model, up to the embedded change `change`. */
export class CachedVectors {
  readonly modelId: number;
  readonly table: VectorTable;
  change = -1;
  /** The parts that were read row by row since the last read was answered. */
  unstored: VectorPart[] = [];

  constructor(modelId: number, dims: number) {
    this.modelId = modelId;
    this.table = new VectorTable(dims);
  }

  /** Adds the vectors of changes up to this one. */
  add(rows: readonly StoredVectors[], upTo: number): void {
    for (const { id, change, data } of rows) this.table.put(id, change, data);
    this.unstored.push({ after: this.change, upTo, ids: rows.map(({ id }) => id) });
    this.change = upTo;
  }

  meaningOf({ dims, vector, ...rest }: SearchMeaning): Meaning {
    const bytes = new Uint8Array(Buffer.from(vector, 'base64'));
    return {
      vector: new Float32Array(bytes.buffer),
      table: this.table,
      scan: openScan(dims),
      ...rest,
    };
  }
}
