import { Database } from 'bun:sqlite';
import { sqlitePath } from '../../server/storage/open.ts';
import { query } from './postgres.ts';

type Row = Record<string, unknown>;

/** Runs a statement on whichever database it is, outside of the service. */
export async function rowsOf(url: string, text: string, values: string[] = []): Promise<Row[]> {
  if (url.startsWith('postgres')) return [...(await query(url, text, values))];
  using db = new Database(sqlitePath(url), { create: false, readwrite: true });
  db.run('PRAGMA busy_timeout = 5000');
  return db.prepare<Row, string[]>(text).all(...values);
}
