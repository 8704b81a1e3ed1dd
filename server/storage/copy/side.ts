import { type CopyDatabase, createReads } from './reads.ts';
import type { Row, TableName, Value } from './tables.ts';

/** One of the two databases in a copy. No server may have it open. */
export type CopySide = {
  /** Returns a random id that identifies the source database. The id is stored on first use. */
  sourceId(): Promise<number>;
  countRows(): Promise<number>;
  /** Throws an Error with advice if a server has opened the database. */
  assertUnused(): Promise<void>;
  /** Returns the next bounded batch in key order, or null if no rows are left. */
  read(
    table: TableName,
    position: string | null,
  ): Promise<{ rows: Row[]; position: string } | null>;
  state(): Promise<CopyState>;
  /**
   * Marks an empty database as an unfinished copy of the source. Servers refuse to open the copy.
   */
  begin(source: number): Promise<void>;
  write(table: TableName, rows: Row[], progress: Progress): Promise<void>;
  /** Marks the copy as finished, so that servers can open the database. */
  finish(source: number): Promise<void>;
  close(): void;
};

/** The last position and the number of copied rows, per table. */
export type Progress = { [Table in TableName]?: { position: string; rows: number } };

export type CopyState = {
  /** Null if the database is not an unfinished copy. */
  unfinished: { source: number; progress: Progress } | null;
  /** The source id of a finished copy. */
  copiedFrom: number | null;
  /** The name of a table that has rows, or null if the database is empty. */
  filled: string | null;
};

/** The table that stores the progress. It exists until the copy is finished. */
export const progressTable = 'copy_progress';

export function unfinishedCopy(name: string): Error {
  return new Error(
    `${name} is an unfinished copy of another database. Run the same "memory migrate" command ` +
      'again to continue the copy.',
  );
}

export function createSide(database: CopyDatabase): CopySide {
  const { stored, parameter, integer, run, assertUnused, close } = database;
  const name = parameter(1, 'name');
  const nameAndValue = `(name, value) VALUES (${name}, ${parameter(2, 'value')})`;
  const setProgress = `UPDATE ${progressTable} SET progress = ${name}`;

  async function readOne(query: string, ...values: Value[]): Promise<Row | undefined> {
    const [row] = await database.read({ text: query, values });
    return row;
  }

  async function numberOf(of: string): Promise<number | null> {
    const value = integer('value');
    const row = await readOne(`SELECT ${value} AS value FROM maintenance WHERE name = ${name}`, of);
    return row === undefined ? null : Number(row.value);
  }

  async function firstFilled(): Promise<string | null> {
    for (const [table, { from }] of Object.entries(stored)) {
      // Even an empty database has a row for the uptime.
      if (table === 'uptime') continue;
      if ((await readOne(`SELECT 1 AS one FROM ${from} LIMIT 1`)) !== undefined) return from;
    }
    return null;
  }

  async function readUnfinished(): Promise<CopyState['unfinished']> {
    if (!(await database.isUnfinished())) return null;
    const row = await readOne(
      `SELECT ${integer('source')} AS source, progress FROM ${progressTable}`,
    );
    return { source: Number(row?.source), progress: JSON.parse(String(row?.progress)) };
  }

  return {
    ...createReads(database),
    assertUnused,
    async sourceId() {
      const made = crypto.getRandomValues(Buffer.alloc(6)).readUIntBE(0, 6);
      await run({
        text: `INSERT INTO maintenance ${nameAndValue} ON CONFLICT DO NOTHING`,
        values: ['database_id', made],
      });
      return (await numberOf('database_id')) ?? made;
    },
    state: async () => ({
      unfinished: await readUnfinished(),
      copiedFrom: await numberOf('copied_from'),
      filled: await firstFilled(),
    }),
    async begin(source) {
      await run(
        { text: `CREATE TABLE ${progressTable} (source INT8, progress TEXT)`, values: [] },
        {
          text: `INSERT INTO ${progressTable} VALUES (${parameter(1, 'value')}, '{}')`,
          values: [source],
        },
      );
    },
    async write(table, rows, progress) {
      const before = (progress[table]?.rows ?? 0) - rows.length;
      const last = { text: setProgress, values: [JSON.stringify(progress)] };
      await database.insert(table, rows, before, last);
    },
    async finish(source) {
      await run(
        { text: `DROP TABLE ${progressTable}`, values: [] },
        {
          text: `INSERT INTO maintenance ${nameAndValue}
            ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
          values: ['copied_from', source],
        },
      );
    },
    close,
  };
}
