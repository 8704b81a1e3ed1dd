import { isMessage, isTurn } from './chunk-table.ts';
import type { Hits } from './hits.ts';
import type { Timeline } from './timeline.ts';
import type { SearchWeights } from './weights.ts';

/**
 * Converts the term frequencies of all chunks to BM25 term weights, in place, and adds the weight
 * of terms in labels. Returns the inverse document frequency of each term.
 */
export function weighTerms(hits: Hits, timeline: Timeline, weights: SearchWeights): Float64Array {
  const { starts, ends } = timeline;
  const chunks = starts.length;
  // The inverse document frequency. A chunk with only a weak match counts as a fraction of a chunk.
  const rarity = hits.found.map((count) => Math.log(1 + (chunks - count + 0.5) / (count + 0.5)));
  const mean = timeline.tokenCount / starts.length + 1;
  for (let rank = 0; rank < starts.length; rank += 1) {
    const from = hits.starts[rank] ?? 0;
    const to = hits.starts[rank + 1] ?? 0;
    if (from === to) continue;
    const length = (ends[rank] ?? 0) - (starts[rank] ?? 0);
    const b = lengthEffect(timeline.flags[rank] ?? 0, weights);
    const saturation = weights.k1 * (1 - b + (b * length) / mean);
    const isSpoken = ((timeline.flags[rank] ?? 0) & isTurn) !== 0;
    const weight = isSpoken ? weights.speaker : weights.topic;
    const label = (weight * length) / (length + weights.labelWords);
    for (let entry = from; entry < to; entry += 1) {
      weigh(hits, entry, rarity[hits.terms[entry] ?? 0] ?? 0, saturation, weights.k1);
      addLabels(hits, entry, label * (rarity[hits.terms[entry] ?? 0] ?? 0));
    }
  }
  return rarity;
}

function lengthEffect(flags: number, { turnB, messageB, textB }: SearchWeights): number {
  if ((flags & isTurn) !== 0) return turnB;
  return (flags & isMessage) !== 0 ? messageB : textB;
}

function weigh(hits: Hits, entry: number, rarity: number, saturation: number, k1: number): void {
  const all = hits.all[entry] ?? 0;
  const spoken = hits.spoken[entry] ?? 0;
  hits.all[entry] = (rarity * all * (k1 + 1)) / (all + saturation);
  hits.spoken[entry] = (rarity * spoken * (k1 + 1)) / (spoken + saturation);
}

function addLabels(hits: Hits, entry: number, worth: number): void {
  for (let count = hits.labels[entry] ?? 0; count > 0; count -= 1) {
    hits.all[entry] = (hits.all[entry] ?? 0) + worth;
  }
}
