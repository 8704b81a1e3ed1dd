import { closeWords } from './close.ts';
import { addContext } from './context.ts';
import { Matcher } from './match.ts';
import type { Query } from './query.ts';
import { Scan } from './scan.ts';
import { type SearchWeights, searchWeights } from './weights.ts';
import { weigh } from './worth.ts';

/** A passage as a backend stores it. */
export type SearchPassage = {
  /** The memory's number: a newer memory's is larger. */
  memory: number;
  ordinal: number;
  /** What `analyse` made of the passage's text. */
  folded: string;
};

/** A memory that was found, by its best passage. */
export type Found = { passage: SearchPassage; score: number };

/**
 * One search over one user's passages. Add all of them, in order of memory and ordinal, since
 * how rare a word is and what was said before come from them; then ask for the best.
 */
export class Search {
  /** Knows which words matched, for the snippets. Complete once `best` was called. */
  readonly matcher: Matcher;
  readonly #weights: SearchWeights;
  readonly #passages: SearchPassage[] = [];
  #scan: Scan;

  constructor(query: Query, weights: SearchWeights = searchWeights) {
    this.matcher = new Matcher(query, weights);
    this.#weights = weights;
    this.#scan = new Scan(this.matcher);
  }

  add(passage: SearchPassage): void {
    this.#passages.push(passage);
    this.#scan.add(passage.folded);
  }

  /**
   * The memories that answer the query, each by its best passage, best first and the newer first
   * among equals. `admits` leaves out memories that a filter excludes.
   */
  best(limit: number, admits?: (memory: number) => boolean): Found[] {
    const steps = this.bestInSteps(limit, admits);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }

  /** The same in short steps, so that others can be let in between. */
  *bestInSteps(
    limit: number,
    admits: (memory: number) => boolean = () => true,
  ): Generator<undefined, Found[]> {
    if (yield* this.#admitMissing()) yield* this.#rescan();
    const worth = weigh(this.#scan, this.#weights);
    const scores = addContext(this.#scan, worth, this.#weights);
    const best = new Map<number, Found>();
    for (const [index, passage] of this.#passages.entries()) {
      const score = scores[index] ?? 0;
      if (score === 0 || score <= (best.get(passage.memory)?.score ?? 0)) continue;
      if (admits(passage.memory)) best.set(passage.memory, { passage, score });
    }
    return [...best.values()].sort(byScore).slice(0, limit);
  }

  /** Lets close words answer for terms that stand nowhere. False where there are none. */
  *#admitMissing(): Generator<undefined, boolean> {
    const found = new Set(this.#scan.terms);
    const missing = this.matcher.query.terms.flatMap((term, index) => {
      return found.has(index) || term.gram ? [] : [{ text: term.text, index }];
    });
    if (missing.length === 0) return false;
    const close = yield* closeWords(this.#passages, missing);
    for (const { word, index } of close) this.matcher.admitClose(word, index);
    return close.length > 0;
  }

  *#rescan(): Generator<undefined, void> {
    this.#scan = new Scan(this.matcher);
    for (const passage of this.#passages) {
      this.#scan.add(passage.folded);
      yield;
    }
  }
}

function byScore(left: Found, right: Found): number {
  return right.score - left.score || right.passage.memory - left.passage.memory;
}
