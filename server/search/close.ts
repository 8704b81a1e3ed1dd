import { wordEnd } from './scan.ts';

/** A term that stands nowhere as it was typed, and its place in the query. */
export type Missing = { text: string; index: number };

/** Of three letters only swapped ones are taken: shorter words have too many neighbours. */
const minSlipLength = 3;
/** A word this long may both be cut short and have a slip in it; or be parted. */
const minLongWord = 5;
/** A term that so many words are close to says nothing. */
const mostClose = 500;

/** Each missing term is held against every word: a query of nonsense must not take long. */
const mostMissing = 8;

type Wanted = Missing & { mask: number; fuzzy: boolean };

/**
 * The words of the passages that are one slip from a missing term (a letter wrong, missing, extra,
 * or two neighbours swapped), that begin with it, or that make it up where they stand side by side
 * (408 247 8880). A slip in a number makes another number: words with digits get none. A step for
 * each passage.
 */
export function* closeWords(
  passages: readonly { folded: string }[],
  missing: readonly Missing[],
): Generator<undefined, { word: string; index: number }[]> {
  const wanted = missing.slice(0, mostMissing).map((term) => ({
    ...term,
    mask: letterMask(term.text, 0, term.text.length),
    fuzzy: !/\d/.test(term.text) && term.text.length >= minSlipLength,
  }));
  const close = new Map<string, number>();
  for (const { folded } of passages) {
    for (let start = 0; start < folded.length && close.size < mostClose; start += 1) {
      if (folded.charCodeAt(start) <= 32) continue;
      const end = wordEnd(folded, start);
      const letters = letterMask(folded, start, end);
      for (const term of wanted) admitWord(close, term, folded, start, end, letters);
      start = end;
    }
    yield;
  }
  return [...close].map(([word, index]) => ({ word, index }));
}

function admitWord(
  close: Map<string, number>,
  term: Wanted,
  folded: string,
  start: number,
  end: number,
  letters: number,
): void {
  if (mayBePart(term, folded, start, end, letters)) {
    for (const part of partsFrom(term.text, folded, start)) close.set(part, term.index);
  } else if (mayBeClose(term, letters, end - start)) {
    const word = folded.slice(start, end);
    if (!close.has(word) && isClose(term, word)) close.set(word, term.index);
  }
}

/** Whether one slip, or one slip and a missing end, turns what was typed into the word. */
export function isSlip(typed: string, word: string): boolean {
  if (typed === word) return true;
  if (oneEdit(typed, word)) return typed.length > minSlipLength || typed.length === word.length;
  if (typed.length < minLongWord || word.length <= typed.length + 1) return false;
  return [-1, 0, 1].some((extra) => oneEdit(typed, word.slice(0, typed.length + extra)));
}

function isClose({ text, fuzzy }: Wanted, word: string): boolean {
  return word.startsWith(text) || (fuzzy && isSlip(text, word));
}

/** One letter wrong, missing, extra or swapped; in a word of three letters, only swapped. */
function oneEdit(left: string, right: string): boolean {
  let start = 0;
  const shorter = Math.min(left.length, right.length);
  while (start < shorter && left[start] === right[start]) start += 1;
  const [a, b] = [left.slice(start), right.slice(start)];
  if (a.length === b.length) {
    const swapped = a.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
    return swapped || (left.length > minSlipLength && a.slice(1) === b.slice(1));
  }
  if (a.length === b.length + 1) return a.slice(1) === b;
  return b.length === a.length + 1 && b.slice(1) === a;
}

/** Whether the term may go on with the word after this one: a quick look. */
function mayBePart(
  { text, mask }: Wanted,
  folded: string,
  start: number,
  end: number,
  letters: number,
): boolean {
  return (
    end - start < text.length &&
    (letters & ~mask) === 0 &&
    text.length >= minLongWord &&
    folded.charCodeAt(start) === text.charCodeAt(0) &&
    text.startsWith(folded.slice(start, end)) &&
    partsFrom(text, folded, start).length > 0
  );
}

/** The words from `start` on if together they make up the text, else none. */
function partsFrom(text: string, folded: string, start: number): string[] {
  const parts: string[] = [];
  let taken = 0;
  for (let at = start; taken < text.length; ) {
    const end = wordEnd(folded, at);
    const word = folded.slice(at, end);
    if (word === '' || !text.startsWith(word, taken)) return [];
    parts.push(word);
    taken += word.length;
    at = end + 1;
  }
  return parts;
}

/** A bit for each letter that is there: one slip takes away or adds one at most. */
function letterMask(text: string, start: number, end: number): number {
  let mask = 0;
  for (let at = start; at < end; at += 1) mask |= 1 << (text.charCodeAt(at) & 31);
  return mask;
}

function mayBeClose({ text, mask, fuzzy }: Wanted, letters: number, length: number): boolean {
  if (length < text.length - 1) return false;
  const missing = mask & ~letters;
  if (!fuzzy) return missing === 0;
  // More than one bit is set where taking the lowest away leaves something.
  if ((missing & (missing - 1)) !== 0) return false;
  const extra = letters & ~mask;
  return length > text.length + 1 || (extra & (extra - 1)) === 0;
}
