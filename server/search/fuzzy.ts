import type { Dictionary } from './dictionary.ts';
import { type Missing, splitMatches } from './split-words.ts';
import type { Timeline } from './timeline.ts';
import { isTypo, letterMask, minTypoLength, minUnfinishedLength, unitsOf } from './typo.ts';
import { noWord } from './word-table.ts';

/** Limits a query's cost. Missing terms beyond this number are ignored. */
const maxMissing = 8;
/** Longer terms are hashes or encoded data rather than mistyped words. */
const maxTermLength = 64;
/** A term has no fuzzy matches if more words than this contain its letters. */
const maxCandidates = 32_768;
/** The maximum number of matched words. The first matches in the timeline are kept. */
const maxMatches = 500;
/** A hash in hexadecimal, and the length to which Git shortens one at least. */
const hash = /^(?=.*\d)(?=.*[a-f])[\da-f]+$/;
const minHashLength = 7;

type Wanted = Missing & { units: Uint16Array; mask: number; allowsTypo: boolean };

/**
 * Finds words for missing terms: words within one typo (one letter wrong, missing or extra, or two
 * swapped), words that begin with the term, the first digits of a hash, and adjacent words that
 * spell the term ("408 247 8880" for "4082478880"). A term with digits allows no typo, because
 * changing a digit makes a different number.
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
    const { dictionary } = timeline;
    for (const word of [...shortHashes(term, dictionary), ...wordsCloseTo(term, dictionary)]) {
      if (!close.has(word)) close.set(word, term.index);
    }
  }
  const longEnough = wanted.filter(({ text }) => text.length >= minUnfinishedLength);
  return splitMatches(timeline, longEnough, close, maxMatches);
}

/** Returns the words that are the beginning of the term, if it is a hash. */
function shortHashes({ text }: Wanted, dictionary: Dictionary): number[] {
  if (!hash.test(text)) return [];
  const found: number[] = [];
  for (let length = minHashLength; length < text.length; length += 1) {
    const word = dictionary.find(text.slice(0, length));
    if (word !== noWord) found.push(word);
  }
  return found;
}

function wordsCloseTo(term: Wanted, dictionary: Dictionary): number[] {
  const candidates: number[] = [];
  const letters = dictionary.letters.values;
  const { size } = dictionary;
  // This check rejects most words. At 1 ns per word, it dominates the cost of a mistyped term.
  for (let word = 1; word < size; word += 1) {
    if (hasTwoBits(term.mask & ~(letters[word] ?? 0))) continue;
    if (dictionary.counts.at(word) === 0 || !mayBeClose(term, dictionary, word)) continue;
    candidates.push(word);
    if (candidates.length > maxCandidates) return [];
  }
  return candidates.filter((word) => isClose(term, dictionary, word));
}

/** A cheap check of letters and length. Returns false only if the word cannot be close. */
function mayBeClose({ units, mask, allowsTypo }: Wanted, dictionary: Dictionary, word: number) {
  const letters = dictionary.letters.at(word);
  const extra = dictionary.words.lengthOf(word) - units.length;
  if (extra < -1) return false; // mutate-ignore result: a later check rejects the word
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
