import type { Query } from './query.ts';

/** The maximum number of phrase pairs in a query. Further pairs are ignored. */
const maxPhrasePairs = 64;

const nowhere = -2;

/** Finds which phrase pairs of a query are adjacent in each chunk. */
export class PhraseFinder {
  readonly #pairs: readonly { left: number; right: number }[];
  /** One bit for each pair and rank, in two arrays of 32 pairs each. */
  readonly #found: [Uint32Array, Uint32Array];
  /** The index of the phrase pair of two terms, or -1. */
  readonly #pairOf: Int8Array;
  readonly #width: number;
  #lastTerm = 0;
  #lastAt = nowhere;

  constructor({ terms, pairs }: Query, chunks: number) {
    this.#pairs = pairs.filter((pair) => pair.isPhrase).slice(0, maxPhrasePairs);
    this.#found = [new Uint32Array(chunks), new Uint32Array(chunks)];
    this.#width = terms.length;
    this.#pairOf = new Int8Array(terms.length ** 2).fill(-1);
    for (const [index, { left, right }] of this.#pairs.entries()) {
      this.#pairOf[left * this.#width + right] = index;
    }
  }

  /** Adds a hit with the position of its token. Hits must be added in the order of the timeline. */
  add(term: number, at: number, rank: number): void {
    if (at - this.#lastAt === 1) {
      const pair = this.#pairOf[this.#lastTerm * this.#width + term] ?? -1;
      const found = this.#found[pair < 32 ? 0 : 1];
      if (pair >= 0) found[rank] = (found[rank] ?? 0) | (1 << (pair & 31));
    }
    this.#lastTerm = term;
    this.#lastAt = at;
  }

  /** Resets the last hit, because adjacent tokens of two chunks do not form a phrase. */
  endChunk(): void {
    this.#lastAt = nowhere;
  }

  /**
   * Returns the weight of the query's phrases in a chunk. Each pair has the weight of its more
   * common term.
   */
  worth(rank: number, rarity: Float64Array): number {
    let worth = 0;
    for (let half = 0; half < this.#found.length; half += 1) {
      // Visit the bits from the lowest to the highest, and clear each.
      for (let bits = this.#found[half]?.[rank] ?? 0; bits !== 0; bits &= bits - 1) {
        const pair = this.#pairs[32 * half + 31 - Math.clz32(bits & -bits)];
        if (pair === undefined) continue;
        worth += Math.min(rarity[pair.left] ?? 0, rarity[pair.right] ?? 0);
      }
    }
    return worth;
  }
}
