import {
  columnName,
  columnsOf,
  isText,
  type Row,
  type StoredTable,
  type TableName,
  type Value,
} from './tables.ts';

export type Query = { text: string; values: readonly Value[] };

export type CopyDatabase = {
  stored: Record<TableName, StoredTable>;
  /** Returns the placeholder of a parameter for a column. Parameters are numbered from 1. */
  parameter(number: number, column: string): string;
  /** Wraps an expression so that the client returns its result as a JavaScript number. */
  integer(expression: string): string;
  jsonArray(expressions: string): string;
  isUnfinished(): Promise<boolean>;
  assertUnused(): Promise<void>;
  read(query: Query): Promise<Row[]>;
  run(...queries: Query[]): Promise<void>;
  /** Stores the rows and runs `last` in one transaction. The table already has `before` rows. */
  insert(table: TableName, rows: Row[], before: number, last: Query): Promise<void>;
  /**
   * Returns the row in the form that both backends share. `misplaced` is set if the row's derived
   * columns are wrong.
   */
  asCopied(table: TableName, row: Row): Row;
  close(): void;
};

const batchRows = 512;
/** The maximum amount of text in a batch, except for a single larger row. */
const batchBytes = 4 * 1024 * 1024;

/** Reads tables in key order. Each batch starts after the last row of the previous batch. */
export function createReads(database: CopyDatabase) {
  const { stored, parameter, integer } = database;

  function readPage(
    table: TableName,
    columns: string,
    place: readonly Value[],
    limit: number,
  ): Promise<Row[]> {
    const { from, where = 'true', keys } = stored[table];
    const names = namesOf(keys);
    const places = keys.map((name, index) => parameter(index + 1, name)).join(', ');
    const text = `SELECT ${columns} FROM ${from} AS t WHERE ${where} AND (${names}) > (${places})
      ORDER BY ${names} LIMIT ${parameter(keys.length + 1, 'limit')}`;
    return database.read({ text, values: [...place, limit] });
  }

  /**
   * Returns the number of rows in the next batch. The rows' sizes are read first, because memories
   * can be large.
   */
  async function countNext(table: TableName, place: readonly Value[]): Promise<number> {
    const { large } = stored[table];
    if (large === undefined) return batchRows;
    const size = integer(`coalesce(octet_length(t.${large}), 0)`);
    const sizes = await readPage(table, `${size} AS size`, place, batchRows);
    let bytes = 0;
    const end = sizes.findIndex((row) => {
      bytes += Number(row.size);
      return bytes > batchBytes;
    });
    return end < 0 ? sizes.length : Math.max(1, end);
  }

  function columnsToRead(table: TableName): string {
    const { keys, expressions = {}, further = [] } = stored[table];
    const columns = columnsOf(table).map((name) => {
      const expression = expressions[name] ?? `t.${columnName(name)}`;
      return `${isText(name) ? expression : integer(expression)} AS "${name}"`;
    });
    const position = `${database.jsonArray(namesOf(keys))} AS position`;
    return [...columns, ...further, position].join(', ');
  }

  return {
    async countRows() {
      const counts = Object.values(stored).map(
        ({ from, where = 'true' }) => `(SELECT count(*) FROM ${from} AS t WHERE ${where})`,
      );
      const text = `SELECT ${integer(counts.join(' + '))} AS rows`;
      const [row] = await database.read({ text, values: [] });
      return Number(row?.rows);
    },
    async read(table: TableName, position: string | null) {
      const place = keyValues(stored[table].keys, position);
      const count = await countNext(table, place);
      const found = await readPage(table, columnsToRead(table), place, count);
      const last = found.at(-1)?.position;
      if (last == null) return null;
      const rows = found.map((row) => database.asCopied(table, row));
      return { rows, position: String(last) };
    },
  };
}

function namesOf(keys: readonly string[]): string {
  return keys.map((name) => `t.${name}`).join(', ');
}

/** Returns the key values of a position or, for null, values that sort before all rows. */
function keyValues(keys: readonly string[], position: string | null): Value[] {
  if (position !== null) return JSON.parse(position);
  return keys.map((name) => (isText(name) ? '' : Number.MIN_SAFE_INTEGER));
}
