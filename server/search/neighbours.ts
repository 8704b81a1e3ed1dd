import { isTurn } from './chunk-table.ts';
import type { Hits } from './hits.ts';
import type { Timeline } from './timeline.ts';
import type { SearchWeights } from './weights.ts';

/** Neighbours with a factor below this are not read. */
const minFactor = 0.05;
/** Limits the cost of a search with many consecutive chunks without hits. */
const maxNeighbours = 12;
/** A chunk of this many words gets half the boost: very short turns are rarely the answer. */
const shortTurnWords = 2;

/**
 * Scores chunks and adds a boost from the chunks before them. In a conversation, the question often
 * contains most search terms and the answer few: "Where is the studio?" "The studio is in the old
 * cannery." A chunk without any term gets no boost. A language model's reply often repeats little
 * of the question, and its last part is far from the question, so the boost from the question does
 * not depend on the distance.
 */
export class NeighbourBoost {
  readonly #hits: Hits;
  readonly #timeline: Timeline;
  readonly #weights: SearchWeights;
  readonly #row: Float64Array;

  constructor(hits: Hits, timeline: Timeline, weights: SearchWeights) {
    this.#hits = hits;
    this.#timeline = timeline;
    this.#weights = weights;
    this.#row = new Float64Array(hits.found.length);
  }

  /**
   * Returns a chunk's score; 0 if the chunk contains no term of the query. `asked` is the rank of
   * the question that the chunk answers, or -1.
   */
  score(rank: number, asked: number): number {
    const { starts, terms, all } = this.#hits;
    const from = starts[rank] ?? 0;
    const to = starts[rank + 1] ?? 0;
    if (from === to) return 0;
    this.#row.fill(0);
    for (let entry = from; entry < to; entry += 1) {
      this.#row[terms[entry] ?? 0] = all[entry] ?? 0;
    }
    this.#boost(rank);
    if (asked >= 0) this.#raise(asked, this.#weights.asked);
    return sum(this.#row);
  }

  #boost(rank: number): void {
    const { previous, previousReach, span, withoutSpeaker } = this.#weights;
    const { starts, ends, flags } = this.#timeline;
    const hits = this.#hits.starts;
    const length = (ends[rank] ?? 0) - (starts[rank] ?? 0);
    const peak = (previous * length) / (length + shortTurnWords);
    const furthest = peak > minFactor ? previousReach * Math.log(peak / minFactor) + 1 : 0;
    let distance = length * span;
    for (let read = 1; read <= maxNeighbours && distance < furthest; read += 1) {
      const other = rank - read;
      if (other < 0) return;
      const between = (ends[other] ?? 0) - (starts[other] ?? 0);
      // mutate-ignore constant: no hits raise nothing
      if (hits[other] !== hits[other + 1]) {
        const factor = peak * Math.exp(-(distance + between * span) / previousReach);
        if (factor < minFactor) return;
        const isTalk = ((flags[rank] ?? 0) & (flags[other] ?? 0) & isTurn) !== 0;
        this.#raise(other, isTalk ? factor : factor * withoutSpeaker);
      }
      distance += between;
    }
  }

  #raise(other: number, factor: number): void {
    const { starts, terms, spoken } = this.#hits;
    const row = this.#row;
    const end = starts[other + 1] ?? 0;
    for (let entry = starts[other] ?? 0; entry < end; entry += 1) {
      const term = terms[entry] ?? 0;
      const raised = (spoken[entry] ?? 0) * factor;
      // mutate-ignore boundary: equal values change nothing
      if (raised > (row[term] ?? 0)) row[term] = raised;
    }
  }
}

/** Uses an index loop, because the iterator of a typed array takes five times as long. */
function sum(values: Float64Array): number {
  let total = 0;
  // mutate-ignore boundary: adds 0 for no value
  for (let at = 0; at < values.length; at += 1) total += values[at] ?? 0;
  return total;
}
