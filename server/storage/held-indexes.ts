import { indexedChunks, splitChunks } from '../memory/chunks.ts';
import { type Ranked, SearchIndex } from '../search/index.ts';
import type { Query } from '../search/query.ts';
import { announced, reportProgress } from '../threads/serve.ts';
import { unavailable } from './refusals.ts';

/*
 * The search indexes that a reader thread keeps in memory, one for each user whose memories were
 * searched recently. Before a search, the backend applies the rows that have changed since the
 * user's index was last updated.
 */

export type HeldIndex = {
  index: SearchIndex;
  /** The index contains all of the user's changes up to this change number. */
  lastChange: number;
};

/** A new or changed memory. Until it is searchable, the index contains its id but not its text. */
export type ChangedMemory = {
  id: string;
  createdAt: number;
  content: string;
  metadata: string;
  isSearchable: boolean | number;
  /** The user's change number when this row was written. */
  change: number;
};

export type HeldIndexes = {
  /** Returns the index with this name, or a new index, and marks it as most recently used. */
  take(name: string): HeldIndex;
  /** Drops the least recently used indexes until the rest fit within the limit. */
  dropOldest(): void;
};

/** The hash seed of the indexes. It is secret so that clients cannot choose words that collide. */
const seed = crypto.getRandomValues(new Uint32Array(1))[0];

export function newHeldIndex(): HeldIndex {
  return { index: new SearchIndex(seed), lastChange: -1 };
}

export function createHeldIndexes(maxBytes: number): HeldIndexes {
  /** The indexes in order of use, with the most recently used last. */
  const held = new Map<string, HeldIndex>();
  return {
    take(name) {
      const index = held.get(name) ?? newHeldIndex();
      held.delete(name);
      held.set(name, index);
      return index;
    },
    // Keep the most recent index even if it exceeds the limit by itself. Otherwise, each search
    // would rebuild the index.
    dropOldest() {
      let bytes = 0;
      for (const { index } of held.values()) bytes += index.bytes;
      for (const [name, { index }] of held) {
        if (bytes <= maxBytes || held.size === 1) return;
        held.delete(name);
        bytes -= index.bytes;
      }
    },
  };
}

/**
 * Processing a larger index or a longer text (in UTF-16 units) may take a second on a busy machine.
 */
const largeIndexBytes = 16 * 1024 * 1024;
const largeUnits = 500_000;

/** Searches the index. A search cannot report progress while it runs. */
export function rank({ index }: HeldIndex, query: Query): Ranked {
  const search = () => index.search(query);
  return index.bytes > largeIndexBytes ? announced(search) : search();
}

/** The maximum time that a search may spend updating its index. */
const budgetMs = 10_000;
/** How much text to index between two progress reports. Indexing it takes a few milliseconds. */
const progressUnits = 200_000;
const unitsOfRow = 100;

/** Returns the cost of indexing a row, expressed in UTF-16 units of text. */
export function unitsOf({ content }: ChangedMemory): number {
  return content.length + unitsOfRow;
}

/** Applies changed memories to a user's index. Rows must arrive in the order of `change`. */
export class IndexUpdate {
  readonly #held: HeldIndex;
  readonly #deadline = performance.now() + budgetMs;
  #applied: number;
  #unreported = 0;

  constructor(held: HeldIndex) {
    this.#held = held;
    this.#applied = held.lastChange;
  }

  /** Throws after the deadline. The next search continues with the remaining changes. */
  apply(changed: ChangedMemory): void {
    // A change can consist of several rows and is complete only when the next change begins.
    if (changed.change > this.#applied) {
      this.#held.lastChange = this.#applied;
      if (performance.now() > this.#deadline) {
        throw unavailable("this user's search index is still being built; try again");
      }
      this.#applied = changed.change;
    }
    const { id, createdAt, content, metadata, isSearchable } = changed;
    const put = () => {
      const chunks = isSearchable ? indexedChunks(content, metadata, splitChunks(content)) : [];
      this.#held.index.put({ id, createdAt, chunks });
    };
    if (content.length > largeUnits) announced(put);
    else put();
    this.#unreported += unitsOf(changed);
    if (this.#unreported < progressUnits) return;
    reportProgress();
    this.#unreported = 0;
  }
}

export function removeMissing(index: SearchIndex, existing: ReadonlySet<string>): void {
  for (const id of [...index.ids()]) if (!existing.has(id)) index.remove(id);
}
