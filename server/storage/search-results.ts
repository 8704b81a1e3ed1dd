import { matches } from '../memory/filter.ts';
import type { FoundMemory } from '../memory/json.ts';
import type { Ranked, RankedMemory } from '../search/index.ts';
import { snippet } from '../search/snippet.ts';
import { reportProgress } from '../threads/serve.ts';
import { tooMuchText } from './refusals.ts';
import type { Filter, StoredMemory } from './storage.ts';

/**
 * The maximum amount of text in a response with several memories, in UTF-16 units. It is enough for
 * ten memories of the default maximum size.
 */
const maxText = 64 * 1024 * 1024;

export class SearchResults {
  readonly found: FoundMemory[] = [];
  readonly #matcher: Ranked['matcher'];
  readonly #filter: Filter;
  readonly #limit: number;
  #units = 0;

  constructor({ matcher }: Ranked, { filter, limit }: { filter: Filter; limit: number }) {
    this.#matcher = matcher;
    this.#filter = filter;
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.found.length >= this.#limit;
  }

  /** Adds the next best memory if it matches the filter. `memory` is null if it has expired. */
  add({ start, length, score }: RankedMemory, memory: StoredMemory | null): void {
    // Report progress for each memory, because a filter may reject many in a row.
    reportProgress();
    if (this.isFull || memory === null || !matches(memory, this.#filter)) return;
    this.#units += memory.content.length;
    if (this.found.length > 0 && this.#units > maxText) throw tooMuchText(this.found.length);
    const chunk = memory.content.slice(start, start + length);
    this.found.push({ memory, score, ...snippet(chunk, this.#matcher) });
  }
}
