import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { openDatabase } from '../../../server/storage/sqlite/settings.ts';
import { timed } from './rounds.ts';

type Row = SQLQueryBindings[];
type Table = { name: string; columns: string };

const tables: Table[] = [
  {
    name: 'memories',
    columns:
      'seq, project_id, id, user_id, type, metadata, source, external_id, created_at, ' +
      'updated_at, content',
  },
  {
    name: 'passages',
    columns: 'project_id, user_id, memory_seq, ordinal, start, length, folded',
  },
];

export type Copy = {
  /** Takes over what is new in the source; resolves with how long putting it in took, in ms. */
  insertNew(perTransaction: number): Promise<number>;
  close(): void;
};

/** Another database with the same schema, settings and rows, filled as fast as SQLite can. */
export function createCopy(source: Database, path: string): Copy {
  const db = openDatabase(path);
  migrate(db, path);
  const [insertMemory, insertPassage] = tables.map(({ name, columns }) => {
    const marks = columns.replaceAll(/\w+/g, '?');
    return db.prepare<unknown, Row>(`INSERT INTO ${name} (${columns}) VALUES (${marks})`);
  });
  const insert = db.transaction((memories: Row[], passages: Row[]) => {
    for (const row of memories) insertMemory?.run(...row);
    for (const row of passages) insertPassage?.run(...row);
  });
  let last = 0;
  return {
    insertNew(perTransaction) {
      const memories = rowsAfter(source, 'memories', 'seq', last);
      const passages = rowsAfter(source, 'passages', 'memory_seq', last);
      last = Number(memories.at(-1)?.[0] ?? last);
      return timed(() => {
        for (let at = 0; at < memories.length; at += perTransaction) {
          const until = at + perTransaction;
          insert.immediate(memories.slice(at, until), passages.slice(at, until));
        }
      });
    },
    close: () => db.close(true),
  };
}

function rowsAfter(source: Database, table: string, seq: string, last: number): Row[] {
  const { columns = '' } = tables.find(({ name }) => name === table) ?? {};
  const sql = `SELECT ${columns} FROM ${table} WHERE ${seq} > ? ORDER BY ${seq}`;
  return source.prepare(sql).values(last) as Row[];
}
