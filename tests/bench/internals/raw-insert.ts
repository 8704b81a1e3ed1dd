import { Database, type SQLQueryBindings } from 'bun:sqlite';
import { timed } from '../kit/rounds.ts';

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

/**
 * Creates an inserter that copies memories from `source` into a new database with the same table
 * and indexes, as fast as SQLite can with synchronous=FULL.
 */
export function createRawInsert(source: string, target: string, perTransaction: number) {
  const from = new Database(source, { readonly: true });
  const to = new Database(target, { create: true });
  for (const [name, value] of Object.entries(settings)) to.run(`PRAGMA ${name} = ${value}`);
  const schema = from.prepare<{ sql: string }, []>(
    `SELECT sql FROM sqlite_schema WHERE tbl_name = 'memories' AND sql IS NOT NULL
     ORDER BY type = 'index'`,
  );
  for (const { sql } of schema.all()) to.run(sql);
  const added = from.prepare('SELECT * FROM memories ORDER BY rowid LIMIT -1 OFFSET ?');
  const marks = added.columnNames.map(() => '?');
  const insertOne = to.prepare(`INSERT INTO memories VALUES (${marks})`);
  const insert = to.transaction((rows: SQLQueryBindings[][]) => {
    for (const row of rows) insertOne.run(...row);
  });
  let read = 0;
  return {
    /**
     * Reads the memories that the service has stored since the last call and inserts them. Resolves
     * with the duration of the insert, in ms.
     */
    insertNew() {
      const rows = added.values(read) as SQLQueryBindings[][];
      read += rows.length;
      return timed(() => {
        for (let at = 0; at < rows.length; at += perTransaction) {
          insert.immediate(rows.slice(at, at + perTransaction));
        }
      });
    },
    close() {
      from.close();
      to.close();
    },
  };
}
