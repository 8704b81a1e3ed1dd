import { openScan } from '../embeddings/kernel-file.ts';
import { indexedChunks } from '../memory/chunks.ts';
import { count } from '../metrics/counts.ts';
import { type Ranked, SearchIndex } from '../search/index.ts';
import type { Meaning } from '../search/meaning.ts';
import type { Query } from '../search/query.ts';
import { VectorTable } from '../search/vector-table.ts';
import { searchWeights } from '../search/weights.ts';
import { countText } from '../threads/garbage.ts';
import { announced } from '../threads/serve.ts';
import { unavailable } from './refusals.ts';
import type { SearchResult } from './storage.ts';
import type { SearchMeaning } from './vector-storage.ts';

/*
 * The search indexes that a reader thread keeps in memory, one for each user whose memories were
 * searched recently. Before a search, the backend applies the rows that have changed since the
 * user's index was last updated.
 */

export type CachedIndex = {
  index: SearchIndex;
  /** The index contains all of the user's changes up to this change number. */
  lastChange: number;
  /** The user's `snapshot_change` when the index was last used. */
  snapshotChange: number;
  /** The number of memories that were added or changed since the user's snapshot. */
  unstored: number;
  /** The vectors of one model, once a search has needed them. */
  vectors: CachedVectors | null;
};

/**
 * `change` is the embedded change up to which the vectors have been read. `unstored` are the parts
 * that were read row by row since the last read was answered.
 */
export type CachedVectors = {
  modelId: number;
  change: number;
  table: VectorTable;
  unstored: VectorPart[];
};

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

export type IndexCache = {
  /** Returns the index with this name, or a new index, and marks it as most recently used. */
  get(name: string): CachedIndex;
  /** Drops the least recently used indexes until the rest fit within the limit. */
  dropOldest(): void;
};

/** The hash seed of the indexes. It is secret so that clients cannot choose words that collide. */
const seed = crypto.getRandomValues(new Uint32Array(1))[0];

export function newCachedIndex(): CachedIndex {
  const index = new SearchIndex(seed);
  return { index, lastChange: -1, snapshotChange: -1, unstored: 0, vectors: null };
}

export function createIndexCache(maxBytes: number): IndexCache {
  /** The indexes in order of use, with the most recently used last. */
  const cached = new Map<string, CachedIndex>();
  return {
    get(name) {
      const known = cached.get(name);
      const result = known === undefined ? 'miss' : 'hit';
      count('memory_search_index_lookups_total', { result });
      const index = known ?? newCachedIndex();
      cached.delete(name);
      cached.set(name, index);
      return index;
    },
    // Keep the most recent index even if it exceeds the limit by itself. Otherwise, each search
    // would rebuild the index.
    dropOldest() {
      let bytes = 0;
      for (const one of cached.values()) bytes += bytesOf(one);
      for (const [name, one] of cached) {
        if (bytes <= maxBytes || cached.size === 1) return;
        cached.delete(name);
        count('memory_search_index_evictions_total', {});
        bytes -= bytesOf(one);
      }
    },
  };
}

function bytesOf({ index, vectors }: CachedIndex): number {
  return index.bytes + (vectors?.table.bytes ?? 0);
}

/** On a busy machine, a larger index or a longer text (in UTF-16 units) may take a second. */
const largeUnits = 500_000;
const largeIndexBytes = 16 * 1024 * 1024;

/** Searches the index. A search cannot report progress while it runs. */
export function rank(
  { index, vectors }: CachedIndex,
  query: Query,
  question: SearchMeaning | null,
): Ranked {
  const meaning = question === null || vectors === null ? null : meaningOf(vectors, question);
  const search = () => index.search(query, searchWeights, meaning);
  return index.bytes > largeIndexBytes ? announced(search) : search();
}

function meaningOf({ table }: CachedVectors, question: SearchMeaning): Meaning {
  const { dims, vector, mean, deviation, alone } = question;
  const bytes = new Uint8Array(Buffer.from(vector, 'base64'));
  return {
    vector: new Float32Array(bytes.buffer),
    table,
    scan: openScan(dims),
    mean,
    deviation,
    alone,
  };
}

/** The maximum time that a search may spend updating its index. */
const budgetMs = 10_000;
/** About the size of the objects that are created for a row and its chunks, in bytes. */
const garbageOfRow = 500;

/** Applies changed memories to a user's index, in batches of whole changes. */
export class IndexUpdate {
  readonly #cached: CachedIndex;
  readonly #deadline = performance.now() + budgetMs;

  constructor(cached: CachedIndex) {
    this.#cached = cached;
  }

  apply(changed: ChangedMemory): void {
    const { id, createdAt, content, metadata, occurredAt } = changed;
    const { isSearchable, memoryChange } = changed;
    this.#cached.vectors?.table.removeOlder(id, memoryChange);
    const put = () => {
      const chunks = isSearchable ? indexedChunks(content, metadata, occurredAt) : [];
      this.#cached.index.put({ id, createdAt, chunks });
      this.#cached.unstored += 1;
    };
    if (content.length > largeUnits) announced(put);
    else put();
    countText(content.length + garbageOfRow);
  }

  /**
   * Records that all changes up to this one have been applied. Throws after the deadline; the next
   * search continues with the remaining changes.
   */
  complete(change: number): void {
    this.#cached.lastChange = change;
    if (performance.now() > this.#deadline) {
      throw unavailable("this user's search index is still being built; try again");
    }
  }
}

export function removeMissing(
  { index, vectors }: CachedIndex,
  existing: ReadonlySet<string>,
): void {
  for (const id of [...index.ids()]) {
    if (existing.has(id)) continue;
    index.remove(id);
    vectors?.table.remove(id);
  }
}

/** Returns the index's vectors of this model. Vectors of another model are dropped. */
export function vectorsOf(
  cached: CachedIndex,
  model: { modelId: number; dims: number },
): CachedVectors {
  if (cached.vectors?.modelId !== model.modelId) {
    const table = new VectorTable(model.dims);
    cached.vectors = { modelId: model.modelId, change: -1, table, unstored: [] };
  }
  return cached.vectors;
}

/** Says for how many memories a search had vectors. */
export function meaningUsed(
  { index, vectors }: CachedIndex,
  meaning: SearchMeaning | null,
): Pick<SearchResult, 'meaning' | 'missing'> {
  if (meaning === null) return { meaning: 'off', missing: 0 };
  const missing = Math.max(0, index.size - (vectors?.table.size ?? 0));
  return { meaning: missing === 0 ? 'used' : 'partial', missing };
}

/** Adds the vectors of changes up to this one. */
export function addVectors(
  cached: CachedVectors,
  rows: readonly StoredVectors[],
  upTo: number,
): void {
  for (const { id, change, data } of rows) cached.table.put(id, change, data);
  if (rows.length > 0) {
    cached.unstored.push({ after: cached.change, upTo, ids: rows.map(({ id }) => id) });
  }
  cached.change = upTo;
}
