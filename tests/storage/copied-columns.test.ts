import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { openCopySides } from '../../server/admin.ts';
import type { CopySide } from '../../server/storage/copy/side.ts';
import { addRow, copiedTables, readBatch, type Sum } from '../../server/storage/copy/tables.ts';
import { openStorage } from '../../server/storage/open.ts';
import { newDatabase, postgresUrl, query } from '../support/postgres.ts';
import { openInFolder } from './sqlite.ts';

/*
 * Both databases have the same tables and columns, and `memory migrate` copies all of them, each in
 * the order of an index.
 */

/** Tables that coordinate several servers. */
const ofPostgres = ['quotas', 'schema_versions', 'turns'];

type Column = { table: string; column: string };

const nameOf = ({ table, column }: Column) => `${table}.${column}`;

async function columnsOfSqlite(): Promise<Column[]> {
  await using opened = await openInFolder();
  using db = new Database(opened.path);
  return db
    .prepare<Column, []>(
      `SELECT t.name AS "table", c.name AS "column"
       FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'`,
    )
    .all();
}

async function columnsOfPostgres(): Promise<Column[]> {
  await using database = await newDatabase();
  await (await openStorage(database.url)).close();
  const columns = await query(
    await postgresUrl(),
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = $1`,
    [new URL(database.url).searchParams.get('search_path')],
  );
  return columns as Column[];
}

test('SQLite and PostgreSQL have the same tables and columns', async () => {
  const sqlite = (await columnsOfSqlite()).map(nameOf).sort();
  const postgres = (await columnsOfPostgres()).filter(({ table }) => !ofPostgres.includes(table));
  expect(sqlite.length).toBeGreaterThan(50);
  expect(postgres.map(nameOf).sort()).toEqual(sqlite);
});

test('every table is copied', async () => {
  const tables = new Set((await columnsOfSqlite()).map(({ table }) => table));
  expect(copiedTables.map(({ name }) => name).sort()).toEqual([...tables].sort());
});

test('a copy reads each table in the order of an index', async () => {
  await using database = await newDatabase();
  await using opened = await openInFolder();
  await opened.storage.close();
  const sides = await openCopySides(opened.url, database.url, { create: true });
  const sorted: string[] = [];
  for (const side of sides) {
    const explain = side.kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
    if (side.kind === 'postgres') await side.read('SET enable_sort = off');
    for (const table of copiedTables) {
      const read: CopySide['read'] = async (text, values = []) => {
        const plan = JSON.stringify(await side.read(`${explain} ${text}`, values));
        if (/Sort|TEMP B-TREE/.test(plan)) sorted.push(`${side.kind} ${table.name}`);
        return side.read(text, values);
      };
      await readBatch({ ...side, read }, table, null);
    }
    side.close();
  }
  opened.storage = await openStorage(opened.url);
  expect(sorted).toEqual([]);
});

test('the sum of many rows does not depend on their order, but on each of them', () => {
  const sumOf = (rows: { id: string }[]) =>
    rows.reduce<Sum>((sum, row) => addRow(sum, row), { rows: 0, sum: 0 });
  const rows = Array.from({ length: 1_000 }, (_, at) => ({ id: `mem_${at}` }));
  expect(sumOf(rows.toReversed())).toEqual(sumOf(rows));
  expect(sumOf(rows.with(500, { id: 'another' }))).not.toEqual(sumOf(rows));
});
