import { isUnspaced } from './analyse.ts';
import { headOf, type Matcher, type Verdict } from './match.ts';

const space = 32;
const newline = 10;
const colon = 58;

/** Where in a passage a hit stands: in what is said, or in who says it. */
const inText = 0;
export const inLabel = 1;

/**
 * Runs over folded passages and notes where the terms of a query are hit. Hits lie in flat lists,
 * passage after passage: objects would cost more than the scan.
 */
export class Scan {
  readonly matcher: Matcher;
  /** For each passage its length in words, whether it says who speaks, and its first hit. */
  readonly lengths: number[] = [];
  readonly labelled: boolean[] = [];
  readonly starts: number[] = [0];
  readonly terms: number[] = [];
  readonly weights: number[] = [];
  readonly positions: number[] = [];
  readonly places: number[] = [];

  constructor(matcher: Matcher) {
    this.matcher = matcher;
  }

  /** Scans the next passage. The loop touches every letter, so that it calls little. */
  add(folded: string): void {
    const heads = this.matcher.heads;
    const size = folded.length;
    let position = 0;
    let lineStart = this.terms.length;
    let labelled = false;
    for (let at = 0; at < size; at += 1) {
      const unit = folded.charCodeAt(at);
      if (unit === newline) lineStart = this.terms.length;
      if (unit === colon) {
        this.#markLabel(lineStart);
        labelled = true;
      }
      if (isSeparator(unit)) continue;
      const unspaced = isUnspaced(unit);
      const end = unspaced ? runEnd(folded, at) : wordEnd(folded, at);
      if (unspaced) this.#scanRun(folded, at, end, position);
      else {
        const second = end - at > 1 ? folded.charCodeAt(at + 1) : space;
        if (heads[headOf(unit, second)] === 1) this.#scanWord(folded.slice(at, end), position);
      }
      position += unspaced ? end - at : 1;
      at = end - 1;
    }
    this.lengths.push(position);
    this.labelled.push(labelled);
    this.starts.push(this.terms.length);
  }

  #scanWord(word: string, position: number): void {
    const verdict = this.matcher.judge(word);
    if (verdict !== null) this.#hit(verdict, position);
  }

  #scanRun(folded: string, at: number, end: number, position: number): void {
    for (let unit = at; unit < end; unit += 1) {
      if (this.matcher.heads[headOf(folded.charCodeAt(unit), space)] !== 1) continue;
      const verdict =
        this.matcher.judgeGram(folded.slice(unit, Math.min(unit + 2, end))) ??
        this.matcher.judgeGram(folded.charAt(unit));
      if (verdict !== null) this.#hit(verdict, position + unit - at);
    }
  }

  #hit(verdict: Verdict, position: number): void {
    this.terms.push(verdict.term);
    this.weights.push(verdict.weight);
    this.positions.push(position);
    this.places.push(inText);
  }

  #markLabel(from: number): void {
    for (let hit = from; hit < this.places.length; hit += 1) {
      this.places[hit] = inLabel;
    }
  }
}

/** Where the word that starts at `at` ends. */
export function wordEnd(folded: string, at: number): number {
  let end = at + 1;
  while (end < folded.length && !isSeparator(folded.charCodeAt(end))) end += 1;
  return end;
}

function isSeparator(unit: number): boolean {
  return unit <= colon && (unit <= space || unit === colon);
}

function runEnd(folded: string, at: number): number {
  let end = at + 1;
  while (end < folded.length && isUnspacedOrLow(folded.charCodeAt(end))) end += 1;
  return end;
}

function isUnspacedOrLow(unit: number): boolean {
  return isUnspaced(unit) || (unit >= 0xdc00 && unit <= 0xdfff);
}
