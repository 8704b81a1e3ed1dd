import type { ScoreParts } from '../../sdk/contract/search.ts';
import type { Matcher } from './match.ts';

export type RankedMemory = {
  id: string;
  /** The position of the best chunk in the memory's content. */
  start: number;
  length: number;
  /** The sum of its parts. */
  score: number;
  parts: ScoreParts;
  /** Whether the chunk was found by its meaning, besides by words or alone. */
  isMeant: boolean;
};

/**
 * The results of one search, best first and, among equal scores, newest first. The results are
 * sorted lazily, because most callers read only ten. Changing the index invalidates the results.
 */
export class Ranked implements Iterable<RankedMemory> {
  /** Used for snippets, to find the words that matched, and how rare each term is. */
  readonly matcher: Matcher;
  readonly rarity: Float64Array;
  readonly #scores: Float64Array;
  readonly #read: (result: number) => RankedMemory;

  /** `scores` has the oldest memory first. `read` returns a result by its index in `scores`. */
  constructor(
    { matcher, rarity }: Pick<Ranked, 'matcher' | 'rarity'>,
    scores: Float64Array,
    read: (at: number) => RankedMemory,
  ) {
    this.matcher = matcher;
    this.rarity = rarity;
    this.#scores = scores;
    this.#read = read;
  }

  /** Uses a binary heap, which is built in O(n) steps and yields each result in O(log n) steps. */
  *[Symbol.iterator](): Generator<RankedMemory> {
    const heap = new Uint32Array(this.#scores.length).map((_, at) => at);
    for (let at = (heap.length >>> 1) - 1; at >= 0; at -= 1) this.#sink(heap, at, heap.length);
    for (let size = heap.length; size > 0; size -= 1) {
      yield this.#read(heap[0] ?? 0);
      heap[0] = heap[size - 1] ?? 0;
      this.#sink(heap, 0, size - 1);
    }
  }

  #sink(heap: Uint32Array, start: number, size: number): void {
    let at = start;
    for (;;) {
      let best = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < size; child += 1) {
        if (this.#isBefore(heap[child] ?? 0, heap[best] ?? 0)) best = child;
      }
      if (best === at) return;
      const moved = heap[at] ?? 0;
      heap[at] = heap[best] ?? 0;
      heap[best] = moved;
      at = best;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const difference = (this.#scores[left] ?? 0) - (this.#scores[right] ?? 0);
    return difference === 0 ? left > right : difference > 0;
  }
}
