import type { Dictionary } from './dictionary.ts';
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
    for (const word of beginningsOf(text, dictionary)) isRelevant[word] = 1;
  }
  const matches = new Map<number, number>();
  for (const [rank, start] of timeline.starts.entries()) {
    const end = timeline.ends[rank] ?? 0;
    for (let at = start; at < end; at += 1) {
      const word = wordOf(timeline.tokens[at] ?? 0);
      if (isRelevant[word] !== 1) continue;
      if (matches.size >= maxMatches) return matches;
      addMatches(matches, timeline, splittable, close, at, end);
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

/** Whether words of the dictionary can make up the text, wherever they stand. */
function canBeSplit(text: string, dictionary: Dictionary): boolean {
  const isReached = new Uint8Array(text.length + 1);
  isReached[0] = 1;
  for (let from = 0; from < text.length; from += 1) {
    if (isReached[from] === 0) continue;
    for (let to = from + 1; to <= text.length; to += 1) {
      if (dictionary.find(text.slice(from, to)) > 0) isReached[to] = 1;
    }
  }
  return isReached[text.length] === 1;
}

function beginningsOf(text: string, dictionary: Dictionary): number[] {
  const lengths = Array.from({ length: text.length - 1 }, (_, at) => at + 1);
  return lengths.map((length) => dictionary.find(text.slice(0, length))).filter((word) => word > 0);
}
