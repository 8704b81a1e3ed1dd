import type { Dictionary } from './dictionary.ts';
import type { Timeline } from './timeline.ts';
import { endsLabel, wordOf } from './tokenizer.ts';
import { noWord } from './word-table.ts';

/** A term that matches no word of the dictionary, and its index in the query. */
export type Missing = { text: string; term: number };

/** The maximum number of positions at which the search tries to find a split word. */
const maxPositions = 500_000;

/**
 * Finds adjacent words that together spell a missing term ("note book" for "notebook"), at their
 * first place in the timeline; none for a term that is not split. There are at most eight terms.
 */
export function splitWords(timeline: Timeline, missing: readonly Missing[]) {
  const { dictionary, tokens, starts, ends } = timeline;
  const splittable = missing.filter(({ text }) => canBeSplit(text, dictionary));
  const parts = new Map<number, number[]>(splittable.map(({ term }) => [term, []]));
  const firsts = firstParts(splittable, dictionary);
  let wanted = 2 ** splittable.length - 1;
  let positions = 0;
  // mutate-ignore boundary: one more rank has no tokens
  for (let rank = 0; rank < starts.length && wanted !== 0; rank += 1) {
    const end = ends[rank] ?? 0;
    for (let at = starts[rank] ?? 0; at < end; at += 1) {
      const isFirstOf = (firsts[wordOf(tokens[at] ?? 0)] ?? 0) & wanted;
      if (isFirstOf === 0) continue;
      if (positions === maxPositions) return parts;
      positions += 1;
      for (const [index, { text, term }] of splittable.entries()) {
        if ((isFirstOf & (1 << index)) === 0) continue;
        const last = lastPartOf(text, timeline, at, end);
        if (last < at) continue;
        parts.set(term, Array.from(tokens.subarray(at, last + 1), wordOf));
        wanted &= ~(1 << index);
      }
    }
  }
  return parts;
}

/** Returns which terms begin with each word of the dictionary, a bit for each term. */
function firstParts(splittable: readonly Missing[], dictionary: Dictionary): Uint8Array {
  const firsts = new Uint8Array(dictionary.size);
  for (const [index, { text }] of splittable.entries()) {
    for (let length = 1; length < text.length; length += 1) {
      const word = dictionary.find(text.slice(0, length));
      if (word !== noWord) firsts[word] = (firsts[word] ?? 0) | (1 << index);
    }
  }
  return firsts;
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
