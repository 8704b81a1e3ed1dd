import type { Query } from './query.ts';

/** Further phrase pairs of a query are ignored; 48 different words have 47. */
export const maxPhrasePairs = 64;

/** No hit is before this place. */
const nowhere = -2;

/** Finds which phrase pairs of a query are adjacent in each chunk. */
export class PhraseFinder {
  readonly #pairs: readonly { left: number; right: number }[];
  /** For each rank a bit for each pair, the first 32 of them and the others. */
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

  /** The hits of a timeline are added in order, each with the place of its token. */
  add(term: number, at: number, rank: number): void {
    if (at - this.#lastAt === 1) {
      const pair = this.#pairOf[this.#lastTerm * this.#width + term] ?? -1;
      const found = this.#found[pair < 32 ? 0 : 1];
      if (pair >= 0) found[rank] = (found[rank] ?? 0) | (1 << (pair & 31));
    }
    this.#lastTerm = term;
    this.#lastAt = at;
  }

  /** The tokens of two chunks may follow each other. */
  endChunk(): void {
    this.#lastAt = nowhere;
  }

  /** How much of the query's phrases a chunk has: each pair counts as its rarer term. */
  worth(rank: number, rarity: Float64Array): number {
    let worth = 0;
    for (let half = 0; half < this.#found.length; half += 1) {
      // Takes one bit after the other away, the lowest first.
      for (let bits = this.#found[half]?.[rank] ?? 0; bits !== 0; bits &= bits - 1) {
        const pair = this.#pairs[32 * half + 31 - Math.clz32(bits & -bits)];
        if (pair === undefined) continue;
        worth += Math.min(rarity[pair.left] ?? 0, rarity[pair.right] ?? 0);
      }
    }
    return worth;
  }
}
