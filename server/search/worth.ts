import { inLabel, type Scan } from './scan.ts';
import type { SearchWeights } from './weights.ts';

/** What each passage has of each term, in rows of `width`, and beyond the terms. */
export type Worth = {
  width: number;
  own: Float64Array;
  /** The same without who speaks, which says nothing of the turns around. */
  lendable: Float64Array;
  bonus: Float64Array;
};

/** Scores each passage by itself: BM25 with this user's own frequencies, and who speaks. */
export function weigh(scan: Scan, weights: SearchWeights): Worth {
  const rarity = rarities(scan);
  const width = rarity.length;
  const count = scan.lengths.length;
  const own = new Float64Array(count * width);
  const lendable = new Float64Array(count * width);
  const bonus = new Float64Array(count);
  const worth = { width, own, lendable, bonus };
  const mean = scan.lengths.reduce((sum, length) => sum + length, 0) / count + 1;
  const bound = scan.matcher.query.pairs.some((pair) => pair.tight);
  for (const [index, length] of scan.lengths.entries()) {
    const from = scan.starts[index] ?? 0;
    const to = scan.starts[index + 1] ?? from;
    if (from === to) continue;
    const row = index * width;
    const saturation = weights.repetition * (1 - weights.length + (weights.length * length) / mean);
    addHits(scan, from, to, row, worth);
    for (let term = 0; term < width; term += 1) {
      own[row + term] = worthOf(own[row + term], rarity[term], saturation, weights);
      lendable[row + term] = worthOf(lendable[row + term], rarity[term], saturation, weights);
    }
    const label = (weights.label * length) / (length + weights.labelWords);
    addLabels(scan, from, to, (term) => {
      own[row + term] = at(own, row + term) + label * at(rarity, term);
    });
    if (bound) bonus[index] = tightness(scan, from, to, rarity) * weights.tight;
  }
  return worth;
}

/** How rare each term is among this user's passages; a weak match counts as part of one. */
function rarities(scan: Scan): Float64Array {
  const found = new Float64Array(scan.matcher.query.terms.length);
  const best = new Float64Array(found.length);
  for (let index = 0; index < scan.lengths.length; index += 1) {
    const from = scan.starts[index] ?? 0;
    const to = scan.starts[index + 1] ?? from;
    if (from === to) continue;
    best.fill(0);
    for (let hit = from; hit < to; hit += 1) {
      const term = scan.terms[hit] ?? 0;
      best[term] = Math.max(best[term] ?? 0, scan.weights[hit] ?? 0);
    }
    for (let term = 0; term < found.length; term += 1)
      found[term] = at(found, term) + at(best, term);
  }
  const count = scan.lengths.length;
  return found.map((of, term) => {
    const weight = scan.matcher.query.terms[term]?.weight ?? 1;
    return weight * Math.log(1 + (count - of + 0.5) / (of + 0.5));
  });
}

function addHits(scan: Scan, from: number, to: number, row: number, worth: Worth): void {
  const { own, lendable } = worth;
  for (let hit = from; hit < to; hit += 1) {
    const cell = row + (scan.terms[hit] ?? 0);
    const weight = scan.weights[hit] ?? 0;
    own[cell] = at(own, cell) + weight;
    if (scan.places[hit] !== inLabel) lendable[cell] = at(lendable, cell) + weight;
  }
}

function worthOf(
  frequency = 0,
  rarity = 0,
  saturation: number,
  { repetition }: SearchWeights,
): number {
  return (rarity * frequency * (repetition + 1)) / (frequency + saturation);
}

/** Each term that stands in a label, once for each run of it. */
function addLabels(scan: Scan, from: number, to: number, add: (term: number) => void): void {
  let before = -1;
  for (let hit = from; hit < to; hit += 1) {
    const term = scan.terms[hit] ?? 0;
    if (scan.places[hit] !== inLabel || term === before) continue;
    add(term);
    before = term;
  }
}

/** How much of the query's quotations and codes stands here as it was written. */
function tightness(scan: Scan, from: number, to: number, rarity: Float64Array): number {
  let sum = 0;
  for (const { left, right, tight } of scan.matcher.query.pairs) {
    if (!tight) continue;
    for (let hit = from + 1; hit < to; hit += 1) {
      if (scan.terms[hit - 1] !== left || scan.terms[hit] !== right) continue;
      if ((scan.positions[hit] ?? 0) - (scan.positions[hit - 1] ?? 0) !== 1) continue;
      sum += Math.min(at(rarity, left), at(rarity, right));
      break;
    }
  }
  return sum;
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}
