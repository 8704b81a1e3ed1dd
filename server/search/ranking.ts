import { weighTerms } from './bm25.ts';
import { fuzzyMatches } from './fuzzy.ts';
import { findHits } from './hits.ts';
import type { Matcher } from './match.ts';
import { MatchTable } from './match-table.ts';
import { NeighbourBoost } from './neighbours.ts';
import type { Timeline } from './timeline.ts';
import type { SearchWeights } from './weights.ts';

/** The matching memories with their best chunks, as columns, oldest first. */
export type Results = { memories: number[]; ranks: number[]; scores: number[] };

/** Scores all chunks and returns each memory's best chunk. Adds fuzzy matches to the matcher. */
export function scoreTimeline(
  timeline: Timeline,
  matcher: Matcher,
  weights: SearchWeights,
): Results {
  const results: Results = { memories: [], ranks: [], scores: [] };
  if (timeline.starts.length === 0 || matcher.query.terms.length === 0) return results;
  const { query } = matcher;
  const table = new MatchTable(matcher, timeline.dictionary);
  matchMissing(timeline, matcher, table);
  const hits = findHits(timeline, table, query);
  const rarity = weighTerms(hits, timeline, weights);
  const neighbours = new NeighbourBoost(hits, timeline, weights);
  for (let rank = 0; rank < timeline.starts.length; rank += 1) {
    const phrases = hits.phrases?.worth(rank, rarity) ?? 0;
    const score = neighbours.score(rank) + phrases * weights.phrase;
    if (score > 0) keepBest(results, timeline.memories[rank] ?? 0, rank, score);
  }
  return results;
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

/** Keeps the best chunk of a memory, or the first of equal ones. A memory's chunks are adjacent. */
function keepBest(
  { memories, ranks, scores }: Results,
  memory: number,
  rank: number,
  score: number,
) {
  const last = memories.length - 1;
  if (memories[last] !== memory) {
    memories.push(memory);
    ranks.push(rank);
    scores.push(score);
  } else if (score > (scores[last] ?? 0)) {
    ranks[last] = rank;
    scores[last] = score;
  }
}
