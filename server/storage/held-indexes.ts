import { indexedChunks, splitChunks } from '../memory/chunks.ts';
import { SearchIndex } from '../search/index.ts';
import { reportProgress } from '../threads/serve.ts';
import { unavailable } from './refusals.ts';

/*
 * The search indexes that a reader thread holds in memory, one for each user searched recently. A
 * backend updates one with the rows that have changed since.
 */

export type HeldIndex = {
  index: SearchIndex;
  /** The last change of the user that is in the index. */
  lastChange: number;
};

/** A changed memory. If it is not searchable yet, the index has its id without its text. */
export type ChangedMemory = {
  id: string;
  createdAt: number;
  content: string;
  metadata: string;
  isSearchable: boolean | number;
  /** The number of the user's change. */
  change: number;
};

export type HeldIndexes = {
  /** The index with this name, or a new one. */
  take(name: string): HeldIndex;
  /** Drops the least recently used indexes until the rest are within the limit. */
  dropOldest(): void;
};

/** Secret, so that clients cannot choose words that collide. */
const seed = crypto.getRandomValues(new Uint32Array(1))[0];

export function newHeldIndex(): HeldIndex {
  return { index: new SearchIndex(seed), lastChange: -1 };
}

export function createHeldIndexes(maxBytes: number): HeldIndexes {
  /** In order of use, the most recent last. */
  const held = new Map<string, HeldIndex>();
  return {
    take(name) {
      const index = held.get(name) ?? newHeldIndex();
      held.delete(name);
      held.set(name, index);
      return index;
    },
    // Never the most recent one: an index above the limit would be rebuilt for every search.
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

/** What one search may spend on bringing its index up to date before it gives up. */
const budgetMs = 10_000;
/** Text between two progress reports, in UTF-16 units: a few milliseconds. */
const progressUnits = 200_000;
const unitsOfRow = 100;

/** The work that a row is, in UTF-16 units of text. */
export function unitsOf({ content }: ChangedMemory): number {
  return content.length + unitsOfRow;
}

/** Applies a user's changed memories to the index, which come in the order of their changes. */
export class IndexUpdate {
  readonly #held: HeldIndex;
  readonly #deadline = performance.now() + budgetMs;
  #applied: number;
  #unreported = 0;

  constructor(held: HeldIndex) {
    this.#held = held;
    this.#applied = held.lastChange;
  }

  /** Throws past the deadline. What was applied stays, and the next search continues from there. */
  apply(changed: ChangedMemory): void {
    // Several rows can be of one change, which counts as applied once all of them are.
    if (changed.change > this.#applied) {
      this.#held.lastChange = this.#applied;
      if (performance.now() > this.#deadline) {
        throw unavailable('the search index of this user is being built; try again');
      }
      this.#applied = changed.change;
    }
    const { id, createdAt, content, metadata, isSearchable } = changed;
    const chunks = isSearchable ? indexedChunks(content, metadata, splitChunks(content)) : [];
    this.#held.index.put({ id, createdAt, chunks });
    this.#unreported += unitsOf(changed);
    if (this.#unreported < progressUnits) return;
    reportProgress();
    this.#unreported = 0;
  }
}

/** Removes from the index what is not among the user's memories any more. */
export function removeMissing(index: SearchIndex, existing: ReadonlySet<string>): void {
  for (const id of [...index.ids()]) if (!existing.has(id)) index.remove(id);
}
