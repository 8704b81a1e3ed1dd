import { Database } from 'bun:sqlite';
import { splitPassages } from '../../server/memory/passages.ts';
import { analyse } from '../../server/search/analyse.ts';
import { parseQuery, type Query } from '../../server/search/query.ts';
import { type Found, Search, type SearchPassage } from '../../server/search/score.ts';
import { stem } from '../../server/search/stem.ts';
import type { SearchWeights } from '../../server/search/weights.ts';
import { stopWords } from '../../server/search/words.ts';
import type { Turn } from './data.ts';

/** The ids of the memories that answer a question, best first. */
export type Engine = (question: string) => string[];

/** What everybody builds first: FTS5, any word, Porter's stems, no stop words in the query. */
export function fts5(turns: Turn[], limit: number): Engine {
  const db = new Database(':memory:');
  db.run("CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, text, tokenize='porter unicode61')");
  const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
  for (const { id, text } of passagesOf(turns)) insert.run(id, text);
  const find = db.prepare<{ id: string }, [string]>(
    'SELECT id FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 400',
  );
  return (question) => {
    const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const terms = words.filter((word) => !stopWords.has(word)).map((word) => `"${word}"`);
    if (terms.length === 0) return [];
    const ids = find.all(terms.join(' OR ')).map((row) => row.id);
    return [...new Set(ids)].slice(0, limit);
  };
}

/** Ours, with other weights. */
export function ours(turns: Turn[], limit: number, weights: SearchWeights): Engine {
  const passages = numbered(turns);
  return (question) => {
    return run(parseQuery(question), passages, limit, weights).map(
      ({ passage }) => turns[passage.memory]?.id ?? '',
    );
  };
}

/**
 * Ours twice: the words that the first results share and that are rare elsewhere join the query,
 * with a small weight. These are the synonyms that the user's own data suggests.
 */
export function withFeedback(turns: Turn[], limit: number, how: Feedback): Engine {
  const texts = passagesOf(turns);
  const passages = numbered(turns);
  const common = new Map<string, number>();
  for (const { folded } of passages) for (const word of wordsOf(folded)) count(common, word);
  return (question) => {
    const query = parseQuery(question);
    const first = run(query, passages, how.passages, how.weights);
    const shared = new Map<string, number>();
    for (const { passage } of first)
      for (const word of wordsOf(passage.folded)) count(shared, word);
    const known = new Set(query.terms.map((term) => stem(term.text)));
    const fresh = [...shared].filter(([word]) => !known.has(stem(word)) && !stopWords.has(word));
    const worth = fresh.map(([word, times]) => {
      return { word, worth: times * Math.log(texts.length / (common.get(word) ?? 1)) };
    });
    worth.sort((a, b) => b.worth - a.worth);
    for (const { word } of worth.slice(0, how.words)) {
      query.terms.push({ text: word, gram: false, weight: how.weight });
    }
    return run(query, passages, limit, how.weights).map((f) => turns[f.passage.memory]?.id ?? '');
  };
}

export type Feedback = { passages: number; words: number; weight: number; weights: SearchWeights };

function wordsOf(folded: string): Set<string> {
  return new Set(folded.split(/[\s:]+/));
}

function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

function numbered(turns: Turn[]): SearchPassage[] {
  const numbers = new Map(turns.map((turn, index) => [turn.id, index]));
  return passagesOf(turns).map(({ id, ordinal, text }) => {
    return { memory: numbers.get(id) ?? 0, ordinal, folded: analyse(text) };
  });
}

function run(
  query: Query,
  passages: SearchPassage[],
  limit: number,
  weights: SearchWeights,
): Found[] {
  const search = new Search(query, weights);
  for (const passage of passages) search.add(passage);
  return search.best(limit);
}

function passagesOf(turns: Turn[]): { id: string; ordinal: number; text: string }[] {
  return turns.flatMap(({ id, text }) => {
    return splitPassages(text).map(({ start, length }, ordinal) => {
      return { id, ordinal, text: text.slice(start, start + length) };
    });
  });
}
