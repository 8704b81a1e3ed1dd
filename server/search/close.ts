import { wordEnd } from './scan.ts';

/** Shorter words have too many neighbours; of three letters only swapped ones are taken. */
const minSlipLength = 3;
/** A word this long may both be cut short and have a slip in it. */
const minSlippedPrefix = 5;

/**
 * The words of the passages that are one slip from `word` (a letter wrong, missing, extra, or two
 * neighbours swapped) or that begin with it. A slip in a number makes another number, so that
 * words with digits only match as beginnings.
 */
export function closeWords(passages: readonly string[], word: string): Set<string> {
  const found = new Set<string>();
  const wanted = letterMask(word, 0, word.length);
  const fuzzy = !/\d/.test(word) && word.length >= minSlipLength;
  for (const folded of passages) {
    for (let at = 0; at < folded.length; ) {
      const end = wordEnd(folded, at);
      const extra = end - at - word.length;
      if (extra >= -1 && mayBeClose(folded, at, end, wanted, extra)) {
        const candidate = folded.slice(at, end);
        if (candidate.startsWith(word) || (fuzzy && isSlip(word, candidate))) found.add(candidate);
      }
      at = end + 1;
      while (at < folded.length && folded.charCodeAt(at) <= 32) at += 1;
    }
  }
  return found;
}

/** The words that together make `word` where they stand side by side: 408 247 8880. */
export function partsOf(passages: readonly string[], word: string): Set<string> {
  if (word.length < minSlippedPrefix || !/^[\p{L}\p{N}]+$/u.test(word)) return new Set();
  const parted = new RegExp(`(?<![^ \n])${[...word].join(' ?')}(?![^ \n:])`);
  const found = new Set<string>();
  for (const folded of passages) {
    for (const part of parted.exec(folded)?.[0].split(' ') ?? []) found.add(part);
  }
  return found;
}

/** Whether one slip, or one slip and a missing end, turns one word into the other. */
export function isSlip(typed: string, word: string): boolean {
  if (typed === word) return true;
  if (oneEdit(typed, word)) return typed.length > minSlipLength || typed.length === word.length;
  if (typed.length < minSlippedPrefix || word.length <= typed.length + 1) return false;
  return [-1, 0, 1].some((extra) => oneEdit(typed, word.slice(0, typed.length + extra)));
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

/** A bit for each letter that is there: one slip changes at most two of them. */
function letterMask(text: string, start: number, end: number): number {
  let mask = 0;
  for (let at = start; at < end; at += 1) mask |= 1 << (text.charCodeAt(at) & 31);
  return mask;
}

function mayBeClose(text: string, at: number, end: number, wanted: number, extra: number): boolean {
  const mask = letterMask(text, at, end);
  const missing = bitCount(wanted & ~mask);
  return extra > 1 ? missing <= 1 : missing <= 1 && bitCount(mask & ~wanted) <= 1;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
