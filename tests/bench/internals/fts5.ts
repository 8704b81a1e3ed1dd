/*
 * A bare Elysia server that searches an FTS5 table with the memories of many users. Each search is
 * restricted to one user by a term of the table's first column, and matches any of the query's
 * words except stop words. The spec is { path }, the file that `fillFts5` has written.
 */
import { Database } from 'bun:sqlite';
import { Elysia } from 'elysia';
import { stopWords } from '../../../server/search/words.ts';
import type { Dataset } from '../kit/dataset.ts';
import { listenOn } from '../subjects/listen.ts';
import { readSpec } from '../subjects/spec.ts';

const limit = 10;
const rowsPerCommit = 10_000;

export function fillFts5(path: string, { count, memoryAt }: Dataset): void {
  const db = new Database(path);
  db.run('PRAGMA journal_mode = WAL');
  const tokenize = "tokenize = 'porter unicode61'";
  db.run(`CREATE VIRTUAL TABLE found USING fts5(owner, content, id UNINDEXED, ${tokenize})`);
  const insert = db.prepare('INSERT INTO found VALUES (?, ?, ?)');
  for (let from = 0; from < count; from += rowsPerCommit) {
    db.transaction(() => {
      for (let at = from; at < Math.min(count, from + rowsPerCommit); at += 1) {
        const { userId, content, id } = memoryAt(at);
        insert.run(ownerOf(userId), content, id);
      }
    })();
  }
  db.close();
}

/** A user's id as a single token. */
function ownerOf(userId: string): string {
  return `u${Bun.hash(userId).toString(36)}`;
}

function queryOf(userId: string, query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const terms = words.filter((word) => !stopWords.has(word)).map((word) => `"${word}"`);
  return `owner : "${ownerOf(userId)}" AND content : (${terms.join(' OR ')})`;
}

type Found = { id: string; content: string; score: number };

function serve(path: string): void {
  const db = new Database(path, { readonly: true });
  const find = db.prepare<Found, [string, number]>(
    `SELECT id, content, -bm25(found, 0) AS score FROM found WHERE found MATCH ?
     ORDER BY score DESC LIMIT ?`,
  );
  const app = new Elysia().get('/v1/memories/search', ({ query: { userId = '', query = '' } }) => ({
    items: find.all(queryOf(userId, query), limit),
  }));
  listenOn(app.fetch, () => db.close());
}

if (import.meta.main) serve(readSpec<{ path: string }>().path);
