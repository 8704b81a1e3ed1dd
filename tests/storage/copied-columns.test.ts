import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { columnName, columnsOf, type TableName } from '../../server/storage/copy/tables.ts';
import { openStorage } from '../../server/storage/open.ts';
import { newDatabase, postgresUrl, query } from '../support/postgres.ts';
import { openInFolder } from './sqlite.ts';

/* Each column of a schema must be copied by `memory migrate` or be listed here. */

const copied: Record<string, TableName> = {
  projects: 'projects',
  api_keys: 'api_keys',
  users: 'users',
  memories: 'memories',
  tasks: 'pending_tasks',
  idempotency_keys: 'idempotency_keys',
};

/** Columns that the target generates or does not need. */
const made: Record<string, string[]> = {
  // The target embeds all memories anew.
  users: ['bucket', 'bytes', 'embedded_change'],
  memories: ['bucket', 'id_bucket', 'origin', 'external_key', 'bytes', 'first_change'],
  tasks: ['task_id', 'bucket', 'place', 'ordinal', 'lease_owner', 'leased_until'],
  idempotency_keys: ['bucket', 'memory_bucket'],
};

/** Tables that belong to one database. Of their contents, only the uptime is copied. */
const ofDatabase = [
  'maintenance',
  'memory_locations',
  'models',
  'quotas',
  'schema_versions',
  'vectors',
];

type Column = { table: string; column: string };

function missing(columns: Column[]): string[] {
  return columns.flatMap(({ table, column }) => {
    if (ofDatabase.includes(table) || made[table]?.includes(column)) return [];
    const name = copied[table];
    const isCopied = name !== undefined && columnsOf(name).map(columnName).includes(column);
    return isCopied ? [] : [`${table}.${column}`];
  });
}

test('every column of SQLite is copied', async () => {
  await using opened = await openInFolder();
  using db = new Database(opened.path);
  const columns = db
    .prepare<Column, []>(
      `SELECT t.name AS "table", c.name AS "column"
       FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'`,
    )
    .all();
  expect(columns.length).toBeGreaterThan(50);
  expect(missing(columns)).toEqual([]);
});

test('every column of PostgreSQL is copied', async () => {
  const { url, drop } = await newDatabase();
  await (await openStorage(url)).close();
  const columns = (await query(
    await postgresUrl(),
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = $1`,
    [new URL(url).searchParams.get('search_path')],
  )) as Column[];
  await drop();
  expect(columns.length).toBeGreaterThan(50);
  expect(missing(columns)).toEqual([]);
});
