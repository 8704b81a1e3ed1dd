import { dayOffset, isReply, isTurn } from './chunk-table.ts';
import type { Results } from './ranking.ts';
import type { Timeline } from './timeline.ts';
import type { VectorTable } from './vector-table.ts';
import type { SearchWeights } from './weights.ts';

/** Only these results are compared with each other. */
const mostResults = 10;
/** A longer text says more than one thing, which may not all be out of date. */
const mostWords = 40;
const dayMs = 24 * 60 * 60_000;

/** One of the first results: its index, the row of its vector, and the day of its chunk. */
type Statement = { at: number; row: number; day: number };

/**
 * Moves a newer statement about the same thing, by its meaning, just above an older one: "moved to
 * Lisbon" above "lives in Hamburg". Turns and replies stay, because a newer one seldom replaces
 * what was said before.
 */
export function preferNewer(
  timeline: Timeline,
  { ranks, scores }: Results,
  known: { rows: Int32Array; table: VectorTable; createdAt(memory: number): number },
  weights: SearchWeights,
): void {
  const { rows, table, createdAt } = known;
  const statements = best(scores, mostResults).flatMap((at): Statement[] => {
    const rank = ranks[at] ?? 0;
    const row = rows[rank] ?? -1;
    const words = (timeline.ends[rank] ?? 0) - (timeline.starts[rank] ?? 0);
    const isTalk = ((timeline.flags[rank] ?? 0) & (isReply | isTurn)) !== 0;
    if (isTalk || row < 0 || words > mostWords) return [];
    const created = createdAt(timeline.memories[rank] ?? 0);
    const day = timeline.days[rank] || Math.floor(created / dayMs) + dayOffset;
    return [{ at, row, day }];
  });
  for (const old of statements) {
    const least = weights.newerScore * (scores[old.at] ?? 0);
    let nearest = weights.newerCosine;
    let newer = -1;
    for (const { at, row, day } of statements) {
      // The results of one day are in the order in which they were saved.
      if ((day - old.day || at - old.at) <= 0 || (scores[at] ?? 0) < least) continue;
      const cosine = table.cosine(old.row, row);
      if (cosine < nearest) continue;
      nearest = cosine;
      newer = at;
    }
    const score = scores[old.at] ?? 0;
    if (newer >= 0 && (scores[newer] ?? 0) <= score) scores[newer] = score * (1 + Number.EPSILON);
  }
}

/** Returns the indexes of the largest values, largest first. */
function best(values: Float64Array, count: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    if (found.length === count && value < (values[found[count - 1] ?? 0] ?? 0)) continue;
    const place = found.findIndex((other) => value >= (values[other] ?? 0));
    found.splice(place === -1 ? found.length : place, 0, at);
    found.length = Math.min(found.length, count);
  }
  return found;
}
