import type { Query, Term } from './query.ts';
import type { Scan } from './scan.ts';
import type { SearchWeights } from './weights.ts';
import type { Worth } from './worth.ts';

/** Weaker than this, nobody is asked. */
const leastLent = 0.05;
/** Many empty turns in a row must not make a search long. */
const mostLenders = 12;
/** A turn of two words rarely is the answer, whatever was said around it. */
const shortTurnWords = 2;
/** A turn with none of the words needs this many from those around it. */
const leastBorrowed = 2;

/**
 * The score of each passage, with what its neighbours lend. In a conversation the question names
 * the thing and the answer does not: "Where is the studio?" "By the harbour." A neighbour lends
 * only words that the passage lacks or has less of, so that equal passages stay equal.
 */
export function addContext(scan: Scan, worth: Worth, weights: SearchWeights): Float64Array {
  const scores = new Float64Array(scan.lengths.length);
  const row = new Float64Array(worth.width);
  const asked = isAsked(scan.matcher.query);
  for (const index of scan.lengths.keys()) {
    const bare = scan.starts[index] === scan.starts[index + 1];
    if (bare && !(asked && scan.labelled[index] === true)) continue;
    for (let term = 0; term < worth.width; term += 1) {
      row[term] = worth.own[index * worth.width + term] ?? 0;
    }
    borrow(row, index, -1, scan, worth, weights);
    if (!bare) borrow(row, index, 1, scan, worth, weights);
    scores[index] = bare ? borrowedScore(row, weights) : total(row) + (worth.bonus[index] ?? 0);
  }
  return scores;
}

/** Words alone may be a question; who looks for a code or a quotation wants the very thing. */
function isAsked({ terms, pairs }: Query): boolean {
  return terms.length >= leastBorrowed && !pairs.some((pair) => pair.tight) && !terms.some(isGram);
}

function isGram(term: Term): boolean {
  return term.gram;
}

function borrow(
  row: Float64Array,
  index: number,
  step: number,
  scan: Scan,
  worth: Worth,
  weights: SearchWeights,
): void {
  const length = scan.lengths[index] ?? 0;
  const peak = ((step < 0 ? weights.before : weights.after) * length) / (length + shortTurnWords);
  const reach = step < 0 ? weights.beforeWords : weights.afterWords;
  let distance = length * weights.span;
  for (let asked = 1; asked <= mostLenders; asked += 1) {
    const other = index + asked * step;
    const between = scan.lengths[other];
    if (between === undefined) return;
    const fade = peak * Math.exp(-(distance + between * weights.span) / reach);
    if (fade < leastLent) return;
    distance += between;
    if (scan.starts[other] === scan.starts[other + 1]) continue;
    const talk = scan.labelled[index] === true && scan.labelled[other] === true;
    take(row, other * worth.width, worth.lendable, talk ? fade : fade * weights.unlabelled);
  }
}

function take(row: Float64Array, from: number, lendable: Float64Array, fade: number): void {
  for (let term = 0; term < row.length; term += 1) {
    const lent = (lendable[from + term] ?? 0) * fade;
    if (lent > (row[term] ?? 0)) row[term] = lent;
  }
}

/** A turn that answers without repeating a word of the question. */
function borrowedScore(row: Float64Array, weights: SearchWeights): number {
  let terms = 0;
  for (const worth of row) if (worth > 0) terms += 1;
  return terms < leastBorrowed ? 0 : total(row) * weights.borrowed;
}

function total(row: Float64Array): number {
  let sum = 0;
  for (const worth of row) sum += worth;
  return sum;
}
