import type { Dictionary } from './dictionary.ts';
import type { Timeline } from './timeline.ts';
import { endsLabel, wordOf } from './tokenizer.ts';
import { noWord } from './word-table.ts';

/** A term that matches no word of the dictionary, and its index in the query. */
export type Missing = { text: string; index: number };

/** The maximum number of positions at which the search tries to find a split word. */
const maxPositions = 500_000;
/**
 * Bit flags that say how a word matches: it is close to a term, or it is the first part of one of
 * up to eight terms.
 */
const isCloseRole = 1;
const firstRole = 2;

/**
 * Adds matches for adjacent words that together spell a missing term ("note book" for "notebook").
 * Such a match replaces a match with a typo; the last match in the timeline takes precedence.
 */
export function splitMatches(
  timeline: Timeline,
  wanted: readonly Missing[],
  close: ReadonlyMap<number, number>,
  maxMatches: number,
): Map<number, number> {
  const { dictionary, tokens, starts, ends } = timeline;
  const splittable = wanted.filter(({ text }) => canBeSplit(text, dictionary));
  if (splittable.length === 0 && close.size <= maxMatches) return new Map(close);
  const roles = rolesOf(splittable, close, dictionary);
  const matches = new Map<number, number>();
  let positions = 0;
  // mutate-ignore boundary: one more rank has no tokens
  for (let rank = 0; rank < starts.length; rank += 1) {
    const end = ends[rank] ?? 0;
    for (let at = starts[rank] ?? 0; at < end; at += 1) {
      const word = wordOf(tokens[at] ?? 0);
      const role = roles[word] ?? 0;
      if (role === 0) continue;
      if (matches.size >= maxMatches || positions === maxPositions) return matches;
      const term = (role & isCloseRole) === 0 ? undefined : close.get(word);
      if (term !== undefined && !matches.has(word)) matches.set(word, term);
      if (role < firstRole) continue;
      positions += 1;
      addParts(matches, timeline, splittable, role, at, end);
    }
  }
  return matches;
}

function rolesOf(
  splittable: readonly Missing[],
  close: ReadonlyMap<number, number>,
  dictionary: Dictionary,
): Uint16Array {
  const roles = new Uint16Array(dictionary.size);
  for (const word of close.keys()) roles[word] = isCloseRole;
  for (const [index, { text }] of splittable.entries()) {
    for (let length = 1; length < text.length; length += 1) {
      const word = dictionary.find(text.slice(0, length));
      if (word !== noWord) roles[word] = (roles[word] ?? 0) | (firstRole << index);
    }
  }
  return roles;
}

function addParts(
  matches: Map<number, number>,
  timeline: Timeline,
  splittable: readonly Missing[],
  role: number,
  start: number,
  end: number,
): void {
  for (const [index, term] of splittable.entries()) {
    if ((role & (firstRole << index)) === 0) continue;
    const last = lastPartOf(term.text, timeline, start, end);
    for (let at = start; at <= last; at += 1) {
      matches.set(wordOf(timeline.tokens[at] ?? 0), term.index);
    }
  }
}

/** Returns the position of the last word if the words from `start` on spell the text, else -1. */
function lastPartOf(
  text: string,
  { dictionary: { words }, tokens }: Timeline,
  start: number,
  end: number,
): number {
  let length = 0;
  for (let at = start; at < end; at += 1) {
    const token = tokens[at] ?? 0;
    const word = wordOf(token);
    const next = length + words.lengthOf(word);
    if (word === noWord || next > text.length || !words.isAt(word, text, length, next)) return -1;
    length = next;
    if (length === text.length) return at;
    // A speaker's name and the text after it do not form one word.
    if ((token & endsLabel) !== 0) return -1;
  }
  return -1;
}

/** Whether words of the dictionary spell the text. They need not be adjacent in a chunk. */
function canBeSplit(text: string, dictionary: Dictionary): boolean {
  const isReached = new Uint8Array(text.length + 1);
  isReached[0] = 1;
  for (let from = 0; from < text.length; from += 1) {
    if (isReached[from] === 0) continue;
    for (let to = from + 1; to <= text.length; to += 1) {
      if (dictionary.find(text.slice(from, to)) !== noWord) isReached[to] = 1;
    }
  }
  return isReached[text.length] === 1;
}
