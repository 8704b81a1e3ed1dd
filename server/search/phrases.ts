import type { Query } from './query.ts';

/** No match stands before this place. */
const nowhere = -2;

/** Finds which phrase pairs of a query stand side by side in a chunk. */
export class PhraseFinder {
  /** The index of the phrase pair of two terms, or -1. */
  readonly #pairOf: Int16Array;
  readonly #width: number;
  readonly #found: number[] = [];
  #lastTerm = 0;
  #lastAt = nowhere;

  constructor({ terms, pairs }: Query) {
    this.#width = terms.length;
    this.#pairOf = new Int16Array(terms.length ** 2).fill(-1);
    for (const [index, { left, right, isPhrase }] of pairs.entries()) {
      if (isPhrase) this.#pairOf[left * this.#width + right] = index;
    }
  }

  /** The hits of a chunk are added in order, each with the place of its token. */
  add(term: number, at: number): void {
    if (at - this.#lastAt === 1) {
      const pair = this.#pairOf[this.#lastTerm * this.#width + term] ?? -1;
      if (pair >= 0 && !this.#found.includes(pair)) this.#found.push(pair);
    }
    this.#lastTerm = term;
    this.#lastAt = at;
  }

  /** The pairs of the chunk, in the order of the query. */
  finish(): number[] {
    this.#lastAt = nowhere;
    return this.#found.splice(0).sort((left, right) => left - right);
  }
}
