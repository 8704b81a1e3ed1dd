import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { doctor, migrate, openCopySides } from '../../server/admin.ts';
import type { CopySide } from '../../server/storage/copy/side.ts';
import { addRow, copiedTables, readBatch, type Sum } from '../../server/storage/copy/tables.ts';
import { openStorage } from '../../server/storage/open.ts';
import { withFolder } from '../support/folder.ts';
import { newDatabase, postgresUrl, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject, record } from './fixtures.ts';
import { type OpenedFile, openInFolder } from './sqlite.ts';

const folder = withFolder();

/** Opens a PostgreSQL database as the source of a copy to a new file. */
async function openSource(url: string) {
  const file = `sqlite:${folder.file(crypto.randomUUID())}`;
  const [source, target] = await openCopySides(url, file, { create: true });
  target.close();
  return source;
}

/** Closes the storage. Returns a function that copies it to a new PostgreSQL database. */
async function copyOf(opened: OpenedFile) {
  await opened.storage.close();
  const { url, drop } = await newDatabase();
  const onCompared = async () => {};
  return {
    url,
    copy: (onCopied: (done: number, total: number) => Promise<void> = onCompared) =>
      migrate(`sqlite:${opened.path}`, url, { copies: true, onCopied, onCompared }),
    [Symbol.asyncDispose]: drop,
  };
}

test('a copy detects a server that starts during the copy, but ignores servers on other schemas', async () => {
  const [database, another] = [await newDatabase(), await newDatabase()];
  await (await openStorage(database.url)).close();
  const elsewhere = await openStorage(another.url);
  const side = await openUnused(database.url);
  const storage = await openStorage(database.url);
  // Simulate a server that was killed: its lease on the cleanup has expired.
  await query(database.url, 'DELETE FROM turns');
  const message = 'a server is using the database';
  expect((await rejectionOf(side.assertUnused())).message).toContain(message);
  await storage.close();
  await side.assertUnused();
  side.close();
  await elsewhere.close();
  for (const { drop } of [database, another]) await drop();
});

/** Retries, because the sessions of a closed storage may end a little later. */
function openUnused(url: string) {
  const open = () => openSource(url).catch(() => null);
  return until(open, { what: 'the end of the sessions' });
}

test('a copy is rejected until the cleanup turn of a server without visible sessions ends', async () => {
  await using database = await newDatabase();
  const { url } = database;
  await (await openStorage(url)).close();
  const hold = (seconds: number) =>
    query(url, 'INSERT INTO turns VALUES ($1, $2, $3)', [
      'cleanup',
      'killed',
      Date.now() + seconds * 1_000,
    ]);
  await hold(3_600);
  const { message } = await rejectionOf(openSource(url));
  expect(message).toMatch(/^a server is using the database.* wait 3[56]\d\d seconds\.$/);
  await query(url, 'UPDATE turns SET held_until = 0');
  (await openUnused(url)).close();
});

test('pending tasks of several batches keep their order in the queue', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  // A batch of a copy has at most 512 rows.
  const ids = await project.accept(Array.from({ length: 600 }, () => record()));
  await using target = await copyOf(opened);
  await target.copy();
  const inOrder = 'SELECT memory_id AS id FROM tasks ORDER BY run_at, ordinal';
  const copied = await query(target.url, inOrder);
  expect(copied.map(({ id }) => id)).toEqual(ids);
});

test('the progress of a resumed copy counts only the rows that remain', async () => {
  await using opened = await openInFolder();
  await (await newProject(opened)).save(memory());
  await using target = await copyOf(opened);
  const interrupted = target.copy(() => Promise.reject(new Error('interrupted')));
  expect((await rejectionOf(interrupted)).message).toBe('interrupted');
  expect((await rejectionOf(openStorage(target.url))).message).toContain('an unfinished copy');
  const reports: [done: number, total: number][] = [];
  const { copiedRows } = await target.copy(async (...report) => void reports.push(report));
  expect(copiedRows).toBeGreaterThan(1);
  expect(reports.at(-1)).toEqual([copiedRows, copiedRows]);
});

test('the doctor reports an unfinished copy, and not that its rows contradict each other', async () => {
  await using opened = await openInFolder();
  await (await newProject(opened)).save(memory());
  await using target = await copyOf(opened);
  const back = `sqlite:${folder.file('back.db')}`;
  const failuresOf = async (url: string) =>
    (await doctor(url)).flatMap(({ name, level }) => (level === 'failure' ? [name] : []));
  const interrupt = () => Promise.reject(new Error('interrupted'));
  await rejectionOf(target.copy(interrupt));
  expect(await failuresOf(target.url)).toEqual(['copy']);
  await target.copy();
  expect(await failuresOf(target.url)).toEqual([]);
  const options = { copies: true, onCopied: interrupt, onCompared: interrupt };
  await rejectionOf(migrate(target.url, back, options));
  expect(await failuresOf(back)).toEqual(['copy']);
});

test('memories that are larger than a batch are copied', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  const sizes = [1, 2, 3, 3, 9, 1];
  for (const size of sizes) {
    await project.accept([record({ content: 'x'.repeat(size * 1024 * 1024) })]);
  }
  await using target = await copyOf(opened);
  const { isEqual, items } = await target.copy();
  expect(isEqual).toBe(true);
  expect(items.find(({ table }) => table === 'memories')?.target.rows).toBe(sizes.length);
});

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
