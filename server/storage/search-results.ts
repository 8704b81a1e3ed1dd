import { matches } from '../memory/filter.ts';
import type { FoundMemory } from '../memory/json.ts';
import type { Ranked, RankedMemory } from '../search/index.ts';
import { snippet } from '../search/snippet.ts';
import { reportProgress } from '../threads/serve.ts';
import { tooMuchText } from './refusals.ts';
import type { ContentRange, Filter, Part, StoredMemory } from './storage.ts';

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
  readonly #range: ContentRange | undefined;
  #units = 0;

  constructor({ matcher }: Ranked, read: Part & { filter: Filter; limit: number }) {
    this.#matcher = matcher;
    this.#filter = read.filter;
    this.#limit = read.limit;
    this.#range = read.range;
  }

  get isFull(): boolean {
    return this.found.length >= this.#limit;
  }

  /** Adds the next best memory if it matches the filter. `memory` is null if it has expired. */
  add({ start, length, score }: RankedMemory, memory: StoredMemory | null): void {
    // Report progress for each memory, because a filter may reject many in a row.
    reportProgress();
    if (this.isFull || memory === null || !matches(memory, this.#filter)) return;
    const chunk = memory.content.slice(start, start + length);
    const range = this.#range;
    const content = range === undefined ? memory.content : partOf(memory.content, range);
    this.#units += content.length;
    if (this.found.length > 0 && this.#units > maxText) throw tooMuchText(this.found.length);
    const shown = { ...memory, content };
    this.found.push({ memory: shown, score, ...snippet(chunk, this.#matcher) });
  }
}

function partOf(text: string, { offset, length }: ContentRange): string {
  const end = offset + length;
  // A code point has at most two UTF-16 units.
  return [...text.slice(0, end * 2)].slice(offset, end).join('');
}
