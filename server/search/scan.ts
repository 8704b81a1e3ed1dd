import { isUnspaced } from './analyse.ts';
import type { Matcher, Verdict } from './match.ts';

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

  /** Scans the next passage. */
  add(folded: string): void {
    let at = 0;
    let position = 0;
    let lineStart = this.terms.length;
    let labelled = false;
    while (at < folded.length) {
      const unit = folded.charCodeAt(at);
      const end = isUnspaced(unit) ? runEnd(folded, at) : wordEnd(folded, at);
      if (isUnspaced(unit)) this.#scanRun(folded, at, end, position);
      else this.#scanWord(folded, at, end, position);
      position += isUnspaced(unit) ? end - at : 1;
      let next = folded.charCodeAt(end);
      at = end + 1;
      if (next === colon) {
        this.#markLabel(lineStart);
        labelled = true;
        next = folded.charCodeAt(at);
        at += 1;
      }
      if (next === newline) lineStart = this.terms.length;
    }
    this.lengths.push(position);
    this.labelled.push(labelled);
    this.starts.push(this.terms.length);
  }

  #scanWord(folded: string, at: number, end: number, position: number): void {
    const second = end - at > 1 ? folded.charCodeAt(at + 1) : space;
    if (!this.matcher.mayMatch(folded.charCodeAt(at), second)) return;
    const verdict = this.matcher.judge(folded.slice(at, end));
    if (verdict !== null) this.#hit(verdict, position);
  }

  #scanRun(folded: string, at: number, end: number, position: number): void {
    for (let unit = at; unit < end; unit += 1) {
      if (!this.matcher.mayMatch(folded.charCodeAt(unit), space)) continue;
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
  while (end < folded.length) {
    const unit = folded.charCodeAt(end);
    if (unit <= space || unit === colon) break;
    end += 1;
  }
  return end;
}

function runEnd(folded: string, at: number): number {
  let end = at + 1;
  while (end < folded.length && isUnspacedOrLow(folded.charCodeAt(end))) end += 1;
  return end;
}

function isUnspacedOrLow(unit: number): boolean {
  return isUnspaced(unit) || (unit >= 0xdc00 && unit <= 0xdfff);
}
