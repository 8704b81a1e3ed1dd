import type { Dictionary } from './dictionary.ts';
import { splitMatches } from './split-words.ts';
import type { Timeline } from './timeline.ts';
import { isTypo, letterMask, minTypoLength, minUnfinishedLength, unitsOf } from './typo.ts';

/** A term that no chunk holds as it was typed, and its index in the query. */
export type Missing = { text: string; index: number };

/** Limits, so that no query takes long. The first missing terms are matched, the others are not. */
const maxMissing = 8;
/** Longer terms are no words that people mistype. */
const maxTermLength = 64;
/** A term is not matched if more words than this have its letters. */
const maxCandidates = 32_768;
/** No more words than this, the first in the timeline, are matched in all. */
const maxMatches = 500;

export type Wanted = Missing & { units: Uint16Array; mask: number; allowsTypo: boolean };

/**
 * Words for missing terms: those within one typo (a letter wrong, missing, extra, or two swapped),
 * those that begin with the term, and those that make it up side by side (408 247 8880). In a term
 * with digits nothing is a typo: it would be another number. Returns word → index of the term.
 */
export function fuzzyMatches(timeline: Timeline, missing: readonly Missing[]): Map<number, number> {
  const wanted = missing.slice(0, maxMissing).flatMap(({ text, index }): Wanted[] => {
    if (text.length > maxTermLength) return [];
    const units = unitsOf(text);
    const allowsTypo = !/\d/.test(text) && text.length >= minTypoLength;
    return [{ text, index, units, mask: letterMask(units, 0, text.length), allowsTypo }];
  });
  const close = new Map<number, number>();
  for (const term of wanted) {
    for (const word of wordsCloseTo(term, timeline.dictionary)) {
      if (!close.has(word)) close.set(word, term.index);
    }
  }
  const longEnough = wanted.filter(({ text }) => text.length >= minUnfinishedLength);
  return splitMatches(timeline, longEnough, close, maxMatches);
}

function wordsCloseTo(term: Wanted, dictionary: Dictionary): number[] {
  const candidates: number[] = [];
  const letters = dictionary.letters.values;
  const { size } = dictionary;
  // Most words are turned away here, so this loop decides what a typo costs: 1 ns for each word.
  for (let word = 1; word < size; word += 1) {
    if (hasTwoBits(term.mask & ~(letters[word] ?? 0))) continue;
    if (dictionary.counts.at(word) === 0 || !mayBeClose(term, dictionary, word)) continue;
    candidates.push(word);
    if (candidates.length > maxCandidates) return [];
  }
  return candidates.filter((word) => isClose(term, dictionary, word));
}

/** Whether the letters and the length of a word allow that it is close. */
function mayBeClose({ units, mask, allowsTypo }: Wanted, dictionary: Dictionary, word: number) {
  const letters = dictionary.letters.at(word);
  const extra = dictionary.words.lengthOf(word) - units.length;
  if (extra < -1) return false;
  const startsWithTerm = !allowsTypo || (extra > 1 && units.length < minUnfinishedLength);
  if (startsWithTerm) return (mask & ~letters) === 0;
  return extra > 1 || !hasTwoBits(letters & ~mask);
}

function hasTwoBits(mask: number): boolean {
  return (mask & (mask - 1)) !== 0;
}

function isClose({ text, units, allowsTypo }: Wanted, { words }: Dictionary, word: number) {
  if (words.startsWith(word, text)) return true;
  const [start, end] = [words.starts.at(word), words.starts.at(word + 1)];
  return allowsTypo && isTypo(units, { units: words.units, start, end });
}
