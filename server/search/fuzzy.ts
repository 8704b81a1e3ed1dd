import type { Dictionary } from './dictionary.ts';
import type { Match, Matcher } from './match.ts';
import type { MatchTable } from './match-table.ts';
import { type Missing, splitWords } from './split-words.ts';
import type { Timeline } from './timeline.ts';
import { wordOf } from './tokenizer.ts';
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

/** Matches the terms that are not in the dictionary with words that are written otherwise. */
export function matchMissing(timeline: Timeline, matcher: Matcher, table: MatchTable): void {
  const { words } = timeline.dictionary;
  const matched = table.matchedTerms();
  const unmatched = matcher.query.terms.flatMap(({ text, isNgram }, term) => {
    return isNgram || text.length > maxTermLength || matched.has(term) ? [] : [{ text, term }];
  });
  if (unmatched.length === 0) return;
  const missing = unmatched.slice(0, maxMissing);
  for (const [word, term] of fuzzyMatches(timeline, missing)) {
    table.set(word, matcher.addFuzzy(words.textOf(word), term));
  }
  const longEnough = missing.filter(({ text }) => text.length >= minUnfinishedLength);
  for (const [term, parts] of splitWords(timeline, longEnough)) {
    let before: Match | null = null;
    for (const part of parts) {
      before = matcher.addPart(words.textOf(part), term, before);
      table.set(part, before);
    }
  }
}

/**
 * Finds words for missing terms: words within one typo (one letter wrong, missing or extra, or two
 * swapped), words that begin with the term, and the first digits of a hash. A term with digits
 * allows no typo, because changing a digit makes a different number.
 */
function fuzzyMatches(timeline: Timeline, missing: readonly Missing[]): Map<number, number> {
  const { dictionary } = timeline;
  const close = new Map<number, number>();
  for (const { text, term } of missing) {
    const units = unitsOf(text);
    const allowsTypo = !/\d/.test(text) && text.length >= minTypoLength;
    const wanted = { text, term, units, mask: letterMask(units, 0, text.length), allowsTypo };
    for (const word of [...shortHashes(text, dictionary), ...wordsCloseTo(wanted, dictionary)]) {
      if (!close.has(word)) close.set(word, term);
    }
  }
  return close.size > maxMatches ? oldestOf(close, timeline) : close;
}

function oldestOf(
  close: ReadonlyMap<number, number>,
  { dictionary, tokens, starts, ends }: Timeline,
) {
  const isClose = new Uint8Array(dictionary.size);
  for (const word of close.keys()) isClose[word] = 1;
  const oldest = new Map<number, number>();
  // mutate-ignore boundary: one more rank has no tokens
  for (let rank = 0; rank < starts.length; rank += 1) {
    const end = ends[rank] ?? 0;
    for (let at = starts[rank] ?? 0; at < end; at += 1) {
      const word = wordOf(tokens[at] ?? 0);
      if (isClose[word] !== 1) continue;
      oldest.set(word, close.get(word) ?? 0);
      if (oldest.size === maxMatches) return oldest;
    }
  }
  return oldest;
}

/** Returns the words that are the beginning of the term, if it is a hash. */
function shortHashes(text: string, dictionary: Dictionary): number[] {
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
