import { Database } from 'bun:sqlite';
import { indexedChunks, targetLength } from '../../server/memory/chunks.ts';
import { cutText } from '../../server/memory/cuts.ts';
import { SearchIndex } from '../../server/search/index.ts';
import { parseQuery } from '../../server/search/query.ts';
import type { SearchWeights } from '../../server/search/weights.ts';
import { stopWords } from '../../server/search/words.ts';
import type { Turn } from './data.ts';

/** Returns the ids of the memories that match a question, best first. */
export type Engine = (question: string) => string[];

/**
 * Creates the baseline: an FTS5 query for any word except stop words, with Porter stemming. It
 * indexes pieces of about a paragraph, whatever the text is: with whole memories or one piece for
 * each message of a chat, it finds less.
 */
export function fts5(turns: Turn[], limit: number): Engine {
  const db = new Database(':memory:');
  db.run("CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, text, tokenize='porter unicode61')");
  const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
  for (const turn of turns) for (const text of partsOf(turn)) insert.run(turn.id, text);
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

/** Creates the service's search with the given weights. */
export function ours(turns: Turn[], limit: number, weights: SearchWeights): Engine {
  const index = new SearchIndex();
  for (const [at, { id, text }] of turns.entries()) {
    index.put({ id, createdAt: at, chunks: indexedChunks(text, '{}') });
  }
  return (question) => {
    const ranked = index.search(parseQuery(question), weights);
    return [...ranked].slice(0, limit).map(({ id }) => id);
  };
}

function partsOf({ text }: Turn): string[] {
  let end = 0;
  return cutText(text, targetLength).map((length) => {
    end += length;
    return text.slice(end - length, end);
  });
}
