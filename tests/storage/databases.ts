import type { OpenStorage } from './fixtures.ts';
import { openPostgresStorage } from './postgres.ts';
import { openSqliteStorage } from './sqlite.ts';

/** Rows of a test that runs on both databases. */
export const databases: [name: string, open: OpenStorage][] = [
  ['SQLite', openSqliteStorage],
  ['PostgreSQL', openPostgresStorage],
];
