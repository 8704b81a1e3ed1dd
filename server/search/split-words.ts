import { type Dictionary, noWord } from './dictionary.ts';
import type { Wanted } from './fuzzy.ts';
import type { Timeline } from './timeline.ts';
import { endsLabel, wordOf } from './tokenizer.ts';

/**
 * Adds to the words that are close to missing terms those that make a term up where they stand side
 * by side. Where they do, they are for that term, whatever they are close to; what stands last in
 * the timeline wins. The timeline is only read if it can matter.
 */
export function splitMatches(
  timeline: Timeline,
  wanted: readonly Wanted[],
  close: ReadonlyMap<number, number>,
  maxMatches: number,
): Map<number, number> {
  const { dictionary } = timeline;
  const splittable = wanted.filter(({ text }) => canBeSplit(text, dictionary));
  if (splittable.length === 0 && close.size <= maxMatches) return new Map(close);
  const isRelevant = new Uint8Array(dictionary.size);
  for (const word of close.keys()) isRelevant[word] = 1;
  for (const { text } of splittable) {
    for (const word of partsIn(text, dictionary)) isRelevant[word] = 1;
  }
  const matches = new Map<number, number>();
  const { tokens, starts, ends } = timeline;
  for (let rank = 0; rank < starts.length; rank += 1) {
    const end = ends[rank] ?? 0;
    for (let at = starts[rank] ?? 0; at < end; at += 1) {
      if (isRelevant[wordOf(tokens[at] ?? 0)] !== 1) continue;
      if (matches.size >= maxMatches) return matches;
      const isPair = at + 1 < end && isRelevant[wordOf(tokens[at + 1] ?? 0)] === 1;
      addMatches(matches, timeline, isPair ? splittable : [], close, at, end);
    }
  }
  return matches;
}

function addMatches(
  matches: Map<number, number>,
  timeline: Timeline,
  splittable: readonly Wanted[],
  close: ReadonlyMap<number, number>,
  at: number,
  end: number,
): void {
  const word = wordOf(timeline.tokens[at] ?? 0);
  const closeTo = close.get(word);
  if (closeTo !== undefined && !matches.has(word)) matches.set(word, closeTo);
  for (const { text, index } of splittable) {
    for (const part of partsOf(text, timeline, at, end)) matches.set(part, index);
  }
}

/** The words from a token on if together they make up the text, else none. */
function partsOf(text: string, { dictionary, tokens }: Timeline, start: number, end: number) {
  const parts: number[] = [];
  let taken = 0;
  for (let at = start; at < end; at += 1) {
    const token = tokens[at] ?? 0;
    const word = wordOf(token);
    const length = dictionary.lengthOf(word);
    if (length === 0 || taken + length > text.length) return [];
    if (!dictionary.startsWith(word, text.slice(taken, taken + length))) return [];
    parts.push(word);
    taken += length;
    if (taken === text.length) return parts.length > 1 ? parts : [];
    // Who speaks and what they say are not one text.
    if ((token & endsLabel) !== 0) return [];
  }
  return [];
}

/** Whether words of the dictionary make up the text if each could stand anywhere. */
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

/** The words of the dictionary that stand somewhere in the text. */
function partsIn(text: string, dictionary: Dictionary): Set<number> {
  const parts = new Set<number>();
  for (let from = 0; from < text.length; from += 1) {
    for (let to = from + 1; to <= text.length; to += 1) {
      parts.add(dictionary.find(text.slice(from, to)));
    }
  }
  parts.delete(noWord);
  return parts;
}
