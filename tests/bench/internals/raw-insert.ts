import { Database, type SQLQueryBindings } from 'bun:sqlite';
import { timed } from '../kit/rounds.ts';

/** The tables that hold memories, each with the column that contains the memory's row id. */
const tables = [{ name: 'memories', rowNumber: 'rowid' }];

/**
 * The settings of the service's write connection, except for automatic checkpoints. The service
 * disables them, because it checkpoints in another thread.
 */
const settings = {
  journal_mode: 'WAL',
  synchronous: 'FULL',
  foreign_keys: 1,
  secure_delete: 1,
  cell_size_check: 1,
  cache_size: -32_768,
  wal_autocheckpoint: 8_000,
};

type Row = SQLQueryBindings[];

export type RawInsert = {
  /**
   * Reads the rows that the service has stored since the last call and inserts them. Resolves with
   * the duration of the insert, in ms.
   */
  insertNew(): Promise<number>;
  close(): void;
};

/**
 * Creates an inserter that copies rows from `source` into a new database with the same tables, as
 * fast as SQLite can with synchronous=FULL.
 */
export function createRawInsert(source: string, target: string, perTransaction: number): RawInsert {
  const from = new Database(source, { readonly: true });
  const to = new Database(target, { create: true });
  for (const [name, value] of Object.entries(settings)) to.run(`PRAGMA ${name} = ${value}`);
  for (const sql of schemaOf(from)) to.run(sql);
  const inserts = tables.map(({ name }) => {
    const marks = columnsOf(from, name).map(() => '?');
    return to.prepare<unknown, Row>(`INSERT INTO ${name} VALUES (${marks.join()})`);
  });
  const insert = to.transaction((parts: Row[][]) => {
    for (const [index, rows] of parts.entries()) {
      for (const row of rows) inserts[index]?.run(...row);
    }
  });
  let last = 0;
  return {
    insertNew() {
      const parts = tables.map((table) => rowsAfter(from, table, last));
      last = lastRowNumber(from);
      const length = Math.max(...parts.map((rows) => rows.length));
      return timed(() => {
        for (let at = 0; at < length; at += perTransaction) {
          insert.immediate(parts.map((rows) => rows.slice(at, at + perTransaction)));
        }
      });
    },
    close() {
      from.close();
      to.close();
    },
  };
}

/** Returns the SQL that creates the memory tables and their indexes. */
function schemaOf(db: Database): string[] {
  const names = tables.map(({ name }) => name);
  const statements = db
    .prepare(
      "SELECT tbl_name AS owner, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'index'",
    )
    .all() as { owner: string; sql: string }[];
  return statements.filter(({ owner }) => names.includes(owner)).map(({ sql }) => sql);
}

function columnsOf(db: Database, table: string): unknown[] {
  return db.prepare(`PRAGMA table_info(${table})`).all();
}

function rowsAfter(db: Database, { name, rowNumber }: (typeof tables)[number], last: number) {
  const sql = `SELECT * FROM ${name} WHERE ${rowNumber} > ? ORDER BY ${rowNumber}`;
  return db.prepare(sql).values(last) as Row[];
}

function lastRowNumber(db: Database): number {
  const [{ name, rowNumber } = { name: '', rowNumber: '' }] = tables;
  const row = db.prepare(`SELECT ifnull(max(${rowNumber}), 0) AS last FROM ${name}`).get();
  return (row as { last: number }).last;
}
