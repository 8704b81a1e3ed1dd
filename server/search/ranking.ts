import { weighTerms } from './bm25.ts';
import type { DayRange } from './calendar.ts';
import { dayOffset, isReply } from './chunk-table.ts';
import { fuzzyMatches } from './fuzzy.ts';
import { findHits } from './hits.ts';
import type { Matcher } from './match.ts';
import { MatchTable } from './match-table.ts';
import { NeighbourBoost } from './neighbours.ts';
import type { Timeline } from './timeline.ts';
import type { SearchWeights } from './weights.ts';

/**
 * The scores of all chunks for a query, by rank, and the inverse document frequency of each term.
 * The sum of `words` and `phrases` is 0 for a chunk without any term of the query. `dates` are
 * factors, or null if the query has no date.
 */
export type ChunkScores = {
  words: Float64Array;
  phrases: Float64Array;
  dates: Float64Array | null;
  rarity: Float64Array;
  meaning: MeaningScores | null;
};

/** The parts of the scores for meaning. A chunk with at least `found` matches by meaning alone. */
type MeaningScores = { scores: Float64Array; found: number };

/** The best chunk of each matching memory, and its score, as columns, oldest first. */
type Results = { ranks: Int32Array; scores: Float64Array };

/** Scores all chunks. Adds fuzzy matches to the matcher. */
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
  const dates = dateFactors(timeline, matcher.query.dates, weights.date);
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
  return { words, phrases, dates, rarity, meaning: null };
}

/** Returns the factor of each chunk for the query's dates, or null if it has none. */
function dateFactors({ days }: Timeline, dates: DayRange[], factor: number): Float64Array | null {
  if (dates.length === 0) return null;
  const ranges = dates.map(({ first, last }) => ({
    first: first + dayOffset,
    last: last + dayOffset,
  }));
  const factors = new Float64Array(days.length).fill(1);
  let previous = -1;
  for (let rank = 0; rank < days.length; rank += 1) {
    const day = days[rank] ?? 0;
    // Neighbours are usually of the same day.
    if (day === previous) factors[rank] = factors[rank - 1] ?? 1;
    else if (ranges.some(({ first, last }) => first <= day && day <= last)) factors[rank] = factor;
    previous = day;
  }
  return factors;
}

/** Returns the best chunk, or the first of equal ones, of each memory that matches. */
export function bestChunks(
  { memories }: Timeline,
  { words, phrases, dates, meaning }: ChunkScores,
): Results {
  const ranks = new Int32Array(words.length);
  const scores = new Float64Array(words.length);
  let count = 0;
  let last = -1;
  for (let rank = 0; rank < words.length; rank += 1) {
    const sum = (words[rank] ?? 0) + (phrases[rank] ?? 0) + (meaning?.scores[rank] ?? 0);
    const score = sum * (dates?.[rank] ?? 1);
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

function matchMissing(timeline: Timeline, matcher: Matcher, table: MatchTable): void {
  const matched = table.matchedTerms();
  const missing = matcher.query.terms.flatMap(({ text, isNgram }, index) => {
    return isNgram || matched.has(index) ? [] : [{ text, index }];
  });
  if (missing.length === 0) return;
  for (const [word, term] of fuzzyMatches(timeline, missing)) {
    table.set(word, matcher.addFuzzy(timeline.dictionary.words.textOf(word), term));
  }
}
