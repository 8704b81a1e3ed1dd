import type { Highlight } from '../../sdk/contract/search.ts';
import type { Matcher } from './match.ts';
import { normalizeWords } from './normalize.ts';
import type { Ranked } from './ranked.ts';
import { isLowSurrogate, isUnspaced, unspacedRun } from './scripts.ts';

/** About three terminal lines of 80 columns. */
const snippetLength = 220;
/** A cut moves to a word boundary if one is within this many units. */
const wordReach = 24;

type Piece = { text: string; start: number };
type Range = { start: number; end: number };
type Span = Range & { term: number; weight: number };

/**
 * A word may contain soft hyphens and joiners, and an emoji may consist of several characters: an
 * astronaut is a woman joined with a rocket.
 */
const words =
  /\d{1,3}(?:,\d{3})+(?!\d)|[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}\u00ad\u200d]*(?:['’][\p{L}\p{M}]+)*|\p{RI}{2}|\p{Extended_Pictographic}(?:[\ufe0f\u{1f3fb}-\u{1f3ff}]|\u200d\p{Extended_Pictographic})*/gu;

/**
 * Returns the part of a chunk that matches most of the query, on one line and with an ellipsis at
 * each cut, and the positions of the matched words in it. A chunk that is shorter than a snippet is
 * shown with the text after it: what follows a question is often its answer.
 */
export function snippet(
  content: string,
  { matcher, rarity }: Pick<Ranked, 'matcher' | 'rarity'>,
  chunk = { start: 0, length: content.length },
) {
  const chunkEnd = chunk.start + chunk.length;
  const shownEnd = Math.min(content.length, chunk.start + snippetLength);
  const textEnd = chunkEnd < shownEnd ? wordEndBefore(content, shownEnd, chunkEnd) : chunkEnd;
  const text = content.slice(chunk.start, textEnd);
  const isCut = chunkEnd < textEnd && textEnd < content.length;
  const spans = findSpans(text, matcher);
  const { start, end } = cutWindow(text, spans, rarity);
  const highlights: Highlight[] = [];
  let shown = start > 0 ? '…' : '';
  let at = start;
  let points = shown.length;
  const append = (part: string) => {
    shown += part;
    points += [...part].length;
  };
  for (const span of merge(spans)) {
    if (span.start < at || span.end > end) continue;
    append(singleSpaced(text.slice(at, span.start), shown));
    const from = points;
    append(text.slice(span.start, span.end));
    highlights.push({ start: from, end: points });
    at = span.end;
  }
  append(singleSpaced(text.slice(at, end), shown));
  const isWhole = end === text.length && !isCut;
  return { snippet: isWhole ? shown.trimEnd() : `${shown}…`, highlights };
}

/** Replaces each run of whitespace with a space, and drops it at the beginning of the snippet. */
function singleSpaced(part: string, before: string): string {
  return (before === '' ? part.trimStart() : part).replace(/\s+/g, ' ');
}

function findSpans(text: string, matcher: Matcher): Span[] {
  const spans: Span[] = [];
  const hasRuns = text.search(unspacedRun) >= 0;
  for (const { 0: word, index } of text.matchAll(words)) {
    if (hasRuns) addPieces(spans, { text: word, start: index }, matcher);
    else addWord(spans, { text: word, start: index }, matcher);
  }
  return spans;
}

function addPieces(spans: Span[], { text, start }: Piece, matcher: Matcher): void {
  for (let from = 0; from < text.length; ) {
    const to = pieceEnd(text, from);
    const piece = { text: text.slice(from, to), start: start + from };
    if (isUnspaced(text.charCodeAt(from))) addNgrams(spans, piece, matcher);
    else addWord(spans, piece, matcher);
    from = to;
  }
}

/**
 * Returns the end of the piece that begins at `from`. A word may mix scripts with and without
 * spaces; its pieces are matched separately. A low surrogate stays with its high surrogate.
 */
function pieceEnd(word: string, from: number): number {
  const unspaced = isUnspaced(word.charCodeAt(from));
  let to = from + 1;
  while (
    to < word.length &&
    (isInsidePair(word, to) || isUnspaced(word.charCodeAt(to)) === unspaced)
  ) {
    to += 1;
  }
  return to;
}

function addWord(spans: Span[], { text, start }: Piece, matcher: Matcher): void {
  const match = matcher.match(text);
  if (match !== null) spans.push({ start, end: start + text.length, ...match });
}

function addNgrams(spans: Span[], { text, start }: Piece, matcher: Matcher): void {
  for (let at = 0; at < text.length; at += 1) {
    if (isInsidePair(text, at)) continue;
    for (const length of [3, 2, 1]) {
      if (at + length > text.length || isInsidePair(text, at + length)) continue;
      const match = matcher.ngrams.get(normalizeWords(text.slice(at, at + length)));
      if (match === undefined) continue;
      spans.push({ start: start + at, end: start + at + length, ...match });
      break;
    }
  }
}

/** Merges overlapping and adjacent n-grams, so that they are one highlight. */
function merge(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  return merged;
}

function cutWindow(text: string, spans: Span[], rarity: Float64Array): Range {
  // mutate-ignore boundary: the rest returns the same text
  if (text.length <= snippetLength) return { start: 0, end: text.length };
  const focus = densest(spans, rarity);
  const slack = Math.max(0, snippetLength - (focus.end - focus.start));
  const wanted = Math.max(0, focus.start - Math.floor(slack / 3));
  const start = Math.min(wanted, text.length - snippetLength);
  const end = Math.min(text.length, start + snippetLength);
  return {
    start: wordStartAfter(text, start, focus.start),
    end: wordEndBefore(text, end, focus.end),
  };
}

/**
 * Returns the range that fits in a snippet and matches most of the query. Each term counts once, as
 * much as it is rare.
 */
function densest(spans: Span[], rarity: Float64Array): Range {
  let best = { start: 0, end: 0, weight: 0 };
  for (const [index, first] of spans.entries()) {
    const terms = new Map<number, number>();
    let end = first.end;
    for (const span of spans.slice(index, index + 64)) {
      if (span.end - first.start > snippetLength) break;
      const worth = span.weight * (rarity[span.term] ?? 0);
      terms.set(span.term, Math.max(terms.get(span.term) ?? 0, worth));
      end = span.end;
    }
    const weight = [...terms.values()].reduce((sum, one) => sum + one, 0);
    if (weight > best.weight) best = { start: first.start, end, weight };
  }
  return best;
}

function wordStartAfter(text: string, start: number, limit: number): number {
  if (start === 0) return 0;
  for (let at = start; at < Math.min(start + wordReach, limit); at += 1) {
    if (/\s/.test(text.charAt(at))) return at + 1;
  }
  return isInsidePair(text, start) ? start - 1 : start;
}

function wordEndBefore(text: string, end: number, limit: number): number {
  if (end === text.length) return end;
  for (let at = end; at > Math.max(end - wordReach, limit); at -= 1) {
    if (/\s/.test(text.charAt(at))) return at;
  }
  return isInsidePair(text, end) ? end - 1 : end;
}

function isInsidePair(text: string, at: number): boolean {
  return isLowSurrogate(text.charCodeAt(at));
}
