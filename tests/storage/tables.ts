import { Database } from 'bun:sqlite';
import { query } from '../support/postgres.ts';
import type { Opened } from './fixtures.ts';
import { openInSchema } from './postgres.ts';
import { type OpenedFile, openInFolder } from './sqlite.ts';

type Row = Record<string, unknown>;
/** A storage whose tables a test reads and damages, by `run`, on a connection of its own. */
export type Tables = Opened & { run(sql: string): Promise<Row[]> };

export async function openSqlite(
  options?: Parameters<typeof openInFolder>[0],
): Promise<Tables & OpenedFile> {
  const opened = await openInFolder(options);
  const run = async (sql: string) => {
    using db = new Database(opened.path);
    db.run('PRAGMA busy_timeout = 5000');
    return db.prepare<Row, []>(sql).all();
  };
  return Object.assign(opened, { run });
}

export async function openPostgres(): Promise<Tables> {
  const opened = await openInSchema();
  return Object.assign(opened, { run: (sql: string) => query(opened.url, sql) });
}
