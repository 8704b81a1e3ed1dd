import type { IndexedMemory } from '../../server/search/index.ts';
import { type Match, Matcher } from '../../server/search/match.ts';
import type { Query } from '../../server/search/query.ts';
import { isLowSurrogate, isUnspaced, ngramLength } from '../../server/search/scripts.ts';
import { type SearchWeights, searchWeights } from '../../server/search/weights.ts';
import { isReferenceTypo } from './reference-typo.ts';

/*
 * The ranking of server/search, implemented as a full scan with dense tables. This version is slow,
 * but short enough to verify by reading. The index must return identical results.
 */

type Word = { text: string; inLabel: boolean; endsLabel: boolean };
type Hit = { term: number; weight: number; at: number; inLabel: boolean };
type Chunk = {
  id: string;
  start: number;
  length: number;
  words: Word[];
  label: string;
  isTurn: boolean;
  isConversation: boolean;
  sender: 'user' | 'model' | null;
  day: number | null;
};
type Scored = Chunk & { hits: Hit[]; own: number[]; spoken: number[]; bonus: number };
type Result = { id: string; start: number; length: number; score: number };

export function referenceSearch(
  memories: readonly IndexedMemory[],
  query: Query,
  weights: SearchWeights = searchWeights,
): Result[] {
  const sorted = [...memories].sort((a, b) => {
    return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
  });
  const chunks = sorted.flatMap(({ id, chunks }) => chunks.map((chunk) => readChunk(id, chunk)));
  markTurns(chunks);
  if (chunks.length === 0 || query.terms.length === 0) return [];
  const matcher = new Matcher(query, weights);
  addFuzzyMatches(chunks, matcher);
  const scored = weigh(chunks, matcher, weights);
  const best = new Map<string, Result>();
  for (const [rank, { id, start, length }] of scored.entries()) {
    const score =
      scoreWithNeighbours(scored, rank, weights) * dateFactor(scored[rank], query, weights);
    if (score > (best.get(id)?.score ?? 0)) best.set(id, { id, start, length, score });
  }
  const order = sorted.map(({ id }) => id);
  const results = order.flatMap((id) => best.get(id) ?? []);
  return results.reverse().sort((a, b) => b.score - a.score);
}

function dateFactor(chunk: Chunk | undefined, { dates }: Query, { date }: SearchWeights): number {
  const day = chunk?.day ?? Number.NaN;
  return dates.some(({ first, last }) => first - 3 <= day && day <= last + 3) ? date : 1;
}

function readChunk(id: string, chunk: IndexedMemory['chunks'][number]): Chunk {
  const { start, length, text, sender = null, day = null, isConversation = false } = chunk;
  const words = text.split('\n').flatMap((line) => {
    const colon = line.indexOf(':');
    const label = wordsIn(line.slice(0, Math.max(0, colon)), true);
    const last = label.at(-1);
    if (last !== undefined) last.endsLabel = true;
    return [...label, ...wordsIn(line.slice(colon + 1), false)];
  });
  const end = words.findIndex(({ endsLabel }) => endsLabel);
  const first = words.slice(0, end + 1).filter(({ inLabel }) => inLabel);
  const label = first.map((word) => word.text).join(' ');
  const isTurn = text.includes(':');
  return { id, start, length, words, label, isTurn, isConversation, sender, day };
}

/**
 * Outside of a conversation, a label that recurs less often names a topic, not a speaker, unless it
 * is between two turns of one speaker.
 */
function markTurns(chunks: readonly Chunk[]): void {
  const labels = chunks.map(({ isTurn, label }) => (isTurn ? label : null));
  const isSpeaker = (label: string | null | undefined) =>
    label !== null && labels.filter((one) => one === label).length >= 3;
  for (const [rank, chunk] of chunks.entries()) {
    const [before, own, after] = [-1, 0, 1].map((offset) => labels[rank + offset]);
    const isAnswer = before === after && isSpeaker(before);
    if (!isSpeaker(own) && !isAnswer && !chunk.isConversation) chunk.isTurn = false;
  }
}

/** In a script without spaces, each character starts a word: the n-gram at that position. */
function wordsIn(text: string, inLabel: boolean): Word[] {
  const words = text.split(' ').filter((word) => word !== '');
  const texts = words.flatMap((word) => {
    if (!isUnspaced(word.charCodeAt(0))) return [word];
    return Array.from({ length: word.length }, (_, at) =>
      word.slice(at, at + ngramLength(word.charCodeAt(at))),
    );
  });
  return texts.map((one) => ({ text: one, inLabel, endsLabel: false }));
}

function matchOf(text: string, matcher: Matcher) {
  if (isLowSurrogate(text.charCodeAt(0))) return null;
  if (!isUnspaced(text.charCodeAt(0))) return matcher.match(text);
  return ngramMatch(text, matcher);
}

/** Returns the match of an n-gram or, if there is none, of its longest prefix with a match. */
function ngramMatch(text: string, { ngrams }: Matcher) {
  for (let length = text.length; length > 0; length -= 1) {
    const match = ngrams.get(text.slice(0, length));
    if (match !== undefined) return match;
  }
  return null;
}

function addFuzzyMatches(chunks: readonly Chunk[], matcher: Matcher): void {
  const found = new Set(
    chunks.flatMap(({ words }) => words.map(({ text }) => matchOf(text, matcher)?.term)),
  );
  const unmatched = matcher.query.terms.flatMap(({ text, isNgram }, term) => {
    return isNgram || found.has(term) ? [] : [{ text, term }];
  });
  const missing = unmatched.slice(0, 8);
  const close = new Map<string, number>();
  for (const { text } of chunks.flatMap(({ words }) => words)) {
    if (close.size === 500) break;
    const like = missing.find((one) => isClose(one.text, text));
    if (like !== undefined) close.set(text, like.term);
  }
  for (const [word, term] of close) matcher.addFuzzy(word, term);
  for (const { text, term } of missing.filter((one) => one.text.length >= 5)) {
    const parts = firstPartsOf(chunks, text);
    parts.reduce<Match | null>((before, part) => matcher.addPart(part, term, before), null);
  }
}

/** Returns the first consecutive words that together form the text. */
function firstPartsOf(chunks: readonly Chunk[], text: string): string[] {
  for (const { words } of chunks) {
    for (const at of words.keys()) {
      const parts = partsFrom(words, at, text);
      if (parts.length > 0) return parts;
    }
  }
  return [];
}

function isClose(typed: string, word: string): boolean {
  if (word.startsWith(typed)) return true;
  if (isHash(typed) && word.length >= 7 && typed.startsWith(word)) return true;
  return !/\d/.test(typed) && typed.length >= 3 && isReferenceTypo(typed, word);
}

function isHash(word: string): boolean {
  return /^[0-9a-f]+$/.test(word) && /\d/.test(word) && /[a-f]/.test(word);
}

/** Returns the consecutive words, starting at `at`, that together form the text. */
function partsFrom(words: readonly Word[], at: number, text: string): string[] {
  for (let end = at + 2; end <= words.length; end += 1) {
    const parts = words.slice(at, end);
    if (parts.slice(0, -1).some(({ endsLabel }) => endsLabel)) return [];
    const joined = parts.map((part) => part.text);
    if (joined.join('') === text) return joined;
    if (joined.join('').length >= text.length) return [];
  }
  return [];
}

function weigh(chunks: readonly Chunk[], matcher: Matcher, weights: SearchWeights): Scored[] {
  const { terms, pairs } = matcher.query;
  const hits = chunks.map(({ words }) => {
    return words.flatMap(({ text, inLabel }, at): Hit[] => {
      const match = matchOf(text, matcher);
      return match === null ? [] : [{ ...match, at, inLabel }];
    });
  });
  const rarity = terms.map((_, term) => {
    let found = 0;
    for (const of of hits) found += Math.max(0, ...weightsOf(of, term));
    return Math.log(1 + (chunks.length - found + 0.5) / (found + 0.5));
  });
  const mean = chunks.reduce((sum, { words }) => sum + words.length, 0) / chunks.length + 1;
  return chunks.map((chunk, rank) => {
    const length = chunk.words.length;
    const own = hits[rank] ?? [];
    const other = chunk.sender === null ? weights.textB : weights.messageB;
    const b = chunk.isTurn ? weights.turnB : other;
    const saturation = weights.k1 * (1 - b + (b * length) / mean);
    const worth = (frequency: number, rare: number) => {
      return (rare * frequency * (weights.k1 + 1)) / (frequency + saturation);
    };
    const all = terms.map((_, term) => worth(sum(weightsOf(own, term)), rarity[term] ?? 0));
    const spoken = terms.map((_, term) => {
      const outside = own.filter(({ inLabel }) => !inLabel);
      return worth(sum(weightsOf(outside, term)), rarity[term] ?? 0);
    });
    const named = chunk.isTurn ? weights.speaker : weights.topic;
    const label = (named * length) / (length + weights.labelWords);
    for (const term of labelRuns(own)) all[term] = (all[term] ?? 0) + label * (rarity[term] ?? 0);
    const bonuses = pairs.map(({ left, right, isPhrase }) => {
      const stands = own.some(({ term, at }, index) => {
        return term === left && own[index + 1]?.term === right && own[index + 1]?.at === at + 1;
      });
      return isPhrase && stands ? Math.min(rarity[left] ?? 0, rarity[right] ?? 0) : 0;
    });
    return { ...chunk, hits: own, own: all, spoken, bonus: sum(bonuses) * weights.phrase };
  });
}

function weightsOf(hits: readonly Hit[], term: number): number[] {
  return hits.filter((hit) => hit.term === term).map(({ weight }) => weight);
}

function labelRuns(hits: readonly Hit[]): number[] {
  const terms = hits.filter(({ inLabel }) => inLabel).map(({ term }) => term);
  return terms.filter((term, index) => term !== terms[index - 1]);
}

function scoreWithNeighbours(
  chunks: readonly Scored[],
  rank: number,
  weights: SearchWeights,
): number {
  const chunk = chunks[rank];
  if (chunk === undefined || chunk.hits.length === 0) return 0;
  const factor = chunk.sender === 'model' ? weights.reply : 1;
  return factor * sum(boosted(chunks, rank, weights)) + factor * chunk.bonus;
}

function boosted(chunks: readonly Scored[], rank: number, weights: SearchWeights): number[] {
  const chunk = chunks[rank];
  const row = [...(chunk?.own ?? [])];
  const length = chunk?.words.length ?? 0;
  const peak = (weights.previous * length) / (length + 2);
  const raise = (other: Scored | undefined, factor: number) => {
    for (const [term, weight] of other?.spoken.entries() ?? []) {
      row[term] = Math.max(row[term] ?? 0, weight * factor);
    }
  };
  if (chunk?.sender === 'model') {
    const asked = chunks.slice(0, rank).findLast(({ sender }) => sender !== 'model');
    raise(asked, weights.asked);
  }
  let distance = length * weights.span;
  for (let read = 1; read <= 12; read += 1) {
    const other = chunks[rank - read];
    if (other === undefined) break;
    const between = other.words.length;
    const faded = peak * Math.exp(-(distance + between * weights.span) / weights.previousReach);
    if (faded < 0.05) break;
    distance += between;
    const factor = chunk?.isTurn && other.isTurn ? faded : faded * weights.withoutSpeaker;
    raise(other, factor);
  }
  return row;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
