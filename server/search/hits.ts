import type { MatchTable } from './match-table.ts';
import { PhraseFinder } from './phrases.ts';
import type { Query } from './query.ts';
import type { Timeline } from './timeline.ts';
import { inLabel, wordOf } from './tokenizer.ts';

/**
 * The frequency of each query term in each chunk, as a sparse table: a chunk has entries only for
 * the terms that it contains, in query order.
 */
export class Hits {
  /** The entries of the chunk with rank n are at `starts[n]` to `starts[n + 1]`. */
  readonly starts: Uint32Array;
  terms: Uint8Array<ArrayBuffer>;
  /**
   * Term frequencies with and without labels. A weak match counts as a fraction of an occurrence.
   */
  all: Float64Array<ArrayBuffer>;
  spoken: Float64Array<ArrayBuffer>;
  /** How often the term occurs in a label. Consecutive occurrences count once. */
  labels: Uint16Array<ArrayBuffer>;
  /** For each term, the sum over all chunks of the weight of the best match in the chunk. */
  readonly found: Float64Array;
  readonly phrases: PhraseFinder | null;

  constructor(chunks: number, query: Query) {
    const terms = query.terms.length;
    const hasPhrase = query.pairs.some((pair) => pair.isPhrase);
    this.phrases = hasPhrase ? new PhraseFinder(query, chunks) : null;
    this.starts = new Uint32Array(chunks + 1);
    const capacity = chunks + terms;
    this.terms = new Uint8Array(capacity);
    this.all = new Float64Array(capacity);
    this.spoken = new Float64Array(capacity);
    this.labels = new Uint16Array(capacity);
    this.found = new Float64Array(terms);
  }

  grow(): void {
    this.terms = new Uint8Array(twice(this.terms));
    this.all = new Float64Array(twice(this.all));
    this.spoken = new Float64Array(twice(this.spoken));
    this.labels = new Uint16Array(twice(this.labels));
  }
}

function twice({ buffer }: { buffer: ArrayBuffer }): ArrayBuffer {
  return buffer.transfer(buffer.byteLength * 2);
}

/** Reads every token of the timeline once. */
export function findHits(timeline: Timeline, { codes, matches }: MatchTable, query: Query): Hits {
  const { tokens, starts, ends } = timeline;
  const hits = new Hits(starts.length, query);
  const chunk = new ChunkHits(hits, matches);
  for (let rank = 0; rank < starts.length; rank += 1) {
    const end = ends[rank] ?? 0;
    for (let at = starts[rank] ?? 0; at < end; at += 1) {
      const token = tokens[at] ?? 0;
      const code = codes[wordOf(token)] ?? 0;
      if (code !== 0) chunk.add(code, (token & inLabel) !== 0, at, rank);
    }
    chunk.finish(rank);
  }
  return hits;
}

class ChunkHits {
  readonly #hits: Hits;
  readonly #termOf: Uint8Array;
  readonly #weightOf: Float64Array;
  readonly #all: Float64Array;
  readonly #spoken: Float64Array;
  readonly #best: Float64Array;
  readonly #labels: Uint16Array;
  #lastInLabel = -1; // mutate-ignore constant: any negative number is no term
  #isEmpty = true; // mutate-ignore boolean: the first chunk has no hits to move
  #length = 0;

  constructor(hits: Hits, matches: MatchTable['matches']) {
    const terms = hits.found.length;
    this.#hits = hits;
    this.#termOf = Uint8Array.from(matches, ({ term }) => term);
    this.#weightOf = Float64Array.from(matches, ({ weight }) => weight);
    this.#all = new Float64Array(terms);
    this.#spoken = new Float64Array(terms);
    this.#best = new Float64Array(terms).fill(-1);
    this.#labels = new Uint16Array(terms);
  }

  add(code: number, isInLabel: boolean, at: number, rank: number): void {
    const term = this.#termOf[code] ?? 0;
    const weight = this.#weightOf[code] ?? 0;
    if (weight > (this.#best[term] ?? 0)) this.#best[term] = weight;
    // mutate-ignore constant: the array has an element for each term
    this.#all[term] = (this.#all[term] ?? 0) + weight;
    this.#isEmpty = false;
    if (!isInLabel) this.#spoken[term] = (this.#spoken[term] ?? 0) + weight;
    else if (term !== this.#lastInLabel) {
      this.#labels[term] = (this.#labels[term] ?? 0) + 1;
      this.#lastInLabel = term;
    }
    this.#hits.phrases?.add(term, at, rank);
  }

  /** Appends the chunk's entries to the hits, and resets the chunk's values. */
  finish(rank: number): void {
    if (!this.#isEmpty) this.#moveTerms();
    this.#hits.starts[rank + 1] = this.#length;
  }

  #moveTerms(): void {
    for (let term = 0; term < this.#best.length; term += 1) {
      if ((this.#best[term] ?? 0) >= 0) this.#push(term);
    }
    this.#hits.phrases?.endChunk();
    this.#lastInLabel = -1; // mutate-ignore constant: any negative number is no term
    this.#isEmpty = true;
  }

  #push(term: number): void {
    const hits = this.#hits;
    if (this.#length === hits.terms.length) hits.grow();
    const entry = this.#length++;
    hits.terms[entry] = term;
    hits.all[entry] = this.#all[term] ?? 0;
    hits.spoken[entry] = this.#spoken[term] ?? 0;
    hits.labels[entry] = this.#labels[term] ?? 0;
    // mutate-ignore constant: the array has an element for each term
    hits.found[term] = (hits.found[term] ?? 0) + (this.#best[term] ?? 0);
    this.#all[term] = 0;
    this.#spoken[term] = 0;
    this.#labels[term] = 0;
    this.#best[term] = -1;
  }
}
