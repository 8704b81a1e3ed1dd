import { weighTerms } from './bm25.ts';
import type { DayRange } from './calendar.ts';
import { dayOffset, isReply } from './chunk-table.ts';
import { matchMissing } from './fuzzy.ts';
import { findHits } from './hits.ts';
import type { Matcher } from './match.ts';
import { MatchTable } from './match-table.ts';
import { NeighbourBoost } from './neighbours.ts';
import type { Timeline } from './timeline.ts';
import type { SearchWeights } from './weights.ts';

/**
 * The scores of all chunks for a query, by rank, and the inverse document frequency of each term.
 * The sum of `words` and `phrases` is 0 for a chunk without any term of the query. `dates` are
 * factors, or null if the query has no date. `days` are what the date adds at least, or, if it is
 * the whole query, in addition.
 */
export type ChunkScores = {
  words: Float64Array;
  phrases: Float64Array;
  dates: Float64Array | null;
  days: Float64Array | null;
  isDateAlone: boolean;
  rarity: Float64Array;
  meaning: MeaningScores | null;
};

/** The parts of the scores for meaning. A cosine of at least `found` matches by meaning alone. */
type MeaningScores = { scores: Float64Array; cosines: Float64Array; found: number };

/** The best chunk of each matching memory, and its score, as columns, oldest first. */
export type Results = { ranks: Int32Array; scores: Float64Array };

/** People also talk about what happens on a day a few days before and after it. */
const marginDays = 3;

/**
 * What a chunk of the day gets at least, even without a word of the query: "what did we plan last
 * week?" For a date alone, it is less than that for the words of the date.
 */
const dayScore = 0.25;
const dayAloneScore = 0.5;
/** A longer time, such as a year, has too many memories, unless the query is a date alone. */
const mostDays = 31;

/** Scores all chunks. Adds matches of missing terms to the matcher. */
export function scoreChunks(
  timeline: Timeline,
  matcher: Matcher,
  weights: SearchWeights,
): ChunkScores {
  const { length } = timeline.starts;
  const table = new MatchTable(matcher, timeline.dictionary);
  matchMissing(timeline, matcher, table);
  const hits = findHits(timeline, table, matcher.query);
  const rarity = weighTerms(hits, timeline, weights);
  const neighbours = new NeighbourBoost(hits, timeline, weights);
  const { dates: ranges, isDateAlone } = matcher.query;
  const near = ranges.map(({ first, last }) => {
    return { first: first - marginDays, last: last + marginDays };
  });
  const dates = perDay(timeline, near, { inside: weights.date, outside: 1 });
  const short = ranges.filter(({ first, last }) => isDateAlone || last - first < mostDays);
  const inside = isDateAlone ? dayAloneScore : dayScore;
  const days = perDay(timeline, short, { inside, outside: 0 });
  const words = new Float64Array(length);
  const phrases = new Float64Array(length);
  let asked = -1;
  for (let rank = 0; rank < length; rank += 1) {
    const inReply = ((timeline.flags[rank] ?? 0) & isReply) !== 0;
    if (!inReply) asked = rank;
    const factor = inReply ? weights.reply : 1;
    words[rank] = factor * neighbours.score(rank, inReply ? asked : -1);
    phrases[rank] = factor * weights.phrase * (hits.phrases?.worth(rank, rarity) ?? 0);
  }
  return { words, phrases, dates, days, isDateAlone, rarity, meaning: null };
}

/**
 * Returns a value for each chunk that depends on whether its day is in one of the ranges, or null
 * if there are none.
 */
function perDay(
  { days }: Timeline,
  ranges: DayRange[],
  { inside, outside }: { inside: number; outside: number },
): Float64Array | null {
  if (ranges.length === 0) return null;
  const values = new Float64Array(days.length).fill(outside);
  let previous = -1;
  for (let rank = 0; rank < days.length; rank += 1) {
    const stored = days[rank] ?? 0;
    const day = stored - dayOffset;
    // Neighbours are usually of the same day.
    if (stored === previous) values[rank] = values[rank - 1] ?? outside;
    else if (ranges.some(({ first, last }) => first <= day && day <= last)) values[rank] = inside;
    previous = stored;
  }
  return values;
}

/** Multiplies the scores of everything but replies. */
export function scaleOthers(
  { words, phrases, days, meaning }: ChunkScores,
  { flags }: Timeline,
  factor: number,
): void {
  for (let rank = 0; rank < words.length; rank += 1) {
    if (((flags[rank] ?? 0) & isReply) !== 0) continue;
    words[rank] = factor * (words[rank] ?? 0);
    phrases[rank] = factor * (phrases[rank] ?? 0);
    if (days !== null) days[rank] = factor * (days[rank] ?? 0);
    if (meaning !== null) meaning.scores[rank] = factor * (meaning.scores[rank] ?? 0);
  }
}

/** Returns the best chunk, or the first of equal ones, of each memory that matches. */
export function bestChunks(
  { memories }: Timeline,
  { words, phrases, dates, days, isDateAlone, meaning }: ChunkScores,
): Results {
  const ranks = new Int32Array(words.length);
  const scores = new Float64Array(words.length);
  let count = 0;
  let last = -1;
  for (let rank = 0; rank < words.length; rank += 1) {
    const sum = (words[rank] ?? 0) + (phrases[rank] ?? 0) + (meaning?.scores[rank] ?? 0);
    const raised = sum * ((dates?.[rank] ?? 1) - 1);
    const day = days?.[rank] ?? 0;
    const score = sum + (isDateAlone ? raised + day : Math.max(raised, day));
    if (score <= 0) continue;
    const memory = memories[rank] ?? 0;
    // A memory's chunks are adjacent.
    if (memory !== last) count += 1;
    else if (score <= (scores[count - 1] ?? 0)) continue;
    last = memory;
    ranks[count - 1] = rank;
    scores[count - 1] = score;
  }
  return { ranks: ranks.subarray(0, count), scores: scores.subarray(0, count) };
}
