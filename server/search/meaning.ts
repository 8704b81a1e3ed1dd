import type { VectorScan } from '../embeddings/vector.ts';
import { isMessage, isReply, isTurn } from './chunk-table.ts';
import type { ChunkScores } from './ranking.ts';
import type { Timeline } from './timeline.ts';
import type { VectorTable } from './vector-table.ts';
import type { SearchWeights } from './weights.ts';

/** A question's vector, with the vectors to compare it with. */
export type Meaning = {
  vector: Float32Array;
  table: VectorTable;
  scan: VectorScan;
  /** The mean and the deviation of the cosines of unrelated texts. */
  mean: number;
  deviation: number;
  /** How far the model knows the language of the question: above 0, and at most 1. */
  fluency: number;
  /** Whether the words of the query do not count. */
  alone: boolean;
};

/** The range of cosines is at least this many deviations below and above the mean. */
const deviationsBelow = 1;
const deviationsAbove = 5;
/** A chunk is found by meaning alone if its cosine is this many deviations above the mean. */
const foundAbove = 1;

/** Returns the row of each chunk's vector by rank, or -1. */
export function vectorRows(
  { memories, chunks }: Timeline,
  table: VectorTable,
  idOf: (memory: number) => string,
): Int32Array {
  const rows = new Int32Array(chunks.length);
  let first = 0;
  for (let rank = 0; rank < chunks.length; rank += 1) {
    if (rank > 0 && memories[rank] !== memories[rank - 1]) first = rank;
    rows[rank] = table.rowOf(idOf(memories[rank] ?? 0), rank - first);
  }
  return rows;
}

/**
 * Adds to the scores of the words, which are scaled, how near each chunk's meaning is to the
 * question's. Chunks that match neither by words nor by meaning get no score.
 *
 * Both parts are squared: a chance hit of one word among four, and a vaguely similar text, count
 * little, so that many of them do not hide the one memory that means the same. The words of a
 * conversation are spread over its turns, and a turn with some of them is often the answer, so the
 * parts of a turn are multiplied by a constant instead, unless it has most of the words.
 */
export function addMeaning(
  scores: ChunkScores,
  timeline: Timeline,
  rows: Int32Array,
  meaning: Meaning,
  weights: SearchWeights,
): void {
  const cosines = cosinesOf(timeline, rows, meaning, weights);
  const { mean, deviation, fluency, alone } = meaning;
  let [low, high] = [mean - deviationsBelow * deviation, mean + deviationsAbove * deviation];
  for (let rank = 0; rank < cosines.length; rank += 1) {
    const cosine = cosines[rank] ?? Number.NaN;
    if (cosine < low) low = cosine;
    if (cosine > high) high = cosine;
  }
  const scale = alone ? 0 : wordScale(scores);
  const { words, phrases } = scores;
  const found = mean + foundAbove * deviation;
  const parts = new Float64Array(words.length);
  for (let rank = 0; rank < words.length; rank += 1) {
    const cosine = cosines[rank] ?? Number.NaN;
    const near = (cosine - low) / (high - low);
    const matched = ((words[rank] ?? 0) + (phrases[rank] ?? 0)) * scale;
    const flags = timeline.flags[rank] ?? 0;
    const isInTurn = (flags & isTurn) !== 0;
    const weight = (flags & (isTurn | isMessage)) === 0 ? weights.textMeaning : weights.meaning;
    const share = alone ? 1 : weight * fluency;
    const constant = alone ? 1 : isInTurn ? weights.turn : 0;
    const wordFactor = (1 - share) * scale * Math.max(matched, constant);
    words[rank] = (words[rank] ?? 0) * wordFactor;
    phrases[rank] = (phrases[rank] ?? 0) * wordFactor;
    if (cosine >= found || (near > 0 && matched > 0))
      parts[rank] = share * near * (constant || near);
  }
  scores.meaning = { scores: parts, cosines, found };
  if (alone) scores.days = null;
}

/**
 * Returns the factor that makes 1 of the best score, or of the score of a chunk that contains each
 * term once. Otherwise, a chance hit of one common word would count as much as a perfect match.
 */
function wordScale({ words, phrases, rarity }: ChunkScores): number {
  let best = rarity.reduce((sum, one) => sum + one, 0);
  for (let rank = 0; rank < words.length; rank += 1) {
    best = Math.max(best, (words[rank] ?? 0) + (phrases[rank] ?? 0));
  }
  return best === 0 ? 0 : 1 / best;
}

/**
 * Returns the cosine of the question with each chunk; NaN for a chunk without a vector. The rest of
 * a reply has that of its first chunk. In a chat, what a message is about often stands in the one
 * before: a reply is raised towards the message that it answers, and a user's message, such as "I
 * chose the second one", towards the reply before it and the message that this answers.
 */
function cosinesOf(
  timeline: Timeline,
  rows: Int32Array,
  { vector, table, scan }: Meaning,
  weights: SearchWeights,
): Float64Array {
  const { flags, memories } = timeline;
  const products = scan.dotProducts(vector, table.blocks);
  const cosines = new Float64Array(rows.length);
  const length = Math.sqrt(1 + weights.previousMeaning ** 2);
  let before = Number.NaN;
  let asked = Number.NaN;
  let answer = Number.NaN;
  for (let rank = 0; rank < rows.length; rank += 1) {
    const flag = flags[rank] ?? 0;
    const last = flags[rank - 1] ?? 0;
    let own = products[rows[rank] ?? -1] ?? Number.NaN;
    if ((flag & isReply) !== 0) {
      const isRest = (last & isReply) !== 0 && memories[rank] === memories[rank - 1];
      if (isRest && Number.isNaN(own)) own = answer;
      answer = own;
      cosines[rank] = raised(own, asked, weights.askedMeaning);
    } else if ((flag & isMessage) !== 0 && (last & isReply) !== 0 && isSameChat(timeline, rank)) {
      cosines[rank] = raised(own, Math.max(asked, answer), weights.exchangeMeaning);
      asked = own;
    } else {
      const isAlone = (flag & last & isTurn) === 0 || Number.isNaN(before);
      cosines[rank] = isAlone ? own : (own + weights.previousMeaning * before) / length;
      asked = (flag & isMessage) === 0 ? Number.NaN : own;
    }
    before = own;
  }
  return cosines;
}

/** Returns the cosine with a share of the difference, if the other one is greater. */
function raised(cosine: number, other: number, share: number): number {
  return other > cosine ? cosine + share * (other - cosine) : cosine;
}

/** Returns whether a chunk is of the same memory, or of the same known day, as the one before. */
function isSameChat({ memories, days }: Timeline, rank: number): boolean {
  const day = days[rank] ?? 0;
  return memories[rank] === memories[rank - 1] || (day !== 0 && day === days[rank - 1]);
}
