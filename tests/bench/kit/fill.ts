import type { Database } from 'bun:sqlite';
import { indexPassages } from '../../../server/memory/passages.ts';
import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { createPassages } from '../../../server/storage/sqlite/passages.ts';
import { prepareInsert } from '../../../server/storage/sqlite/row.ts';
import { openDatabase } from '../../../server/storage/sqlite/settings.ts';
import { type MadeRow, rowOf } from './rows.ts';

const perTransaction = 20_000;
const project = 'default';

/**
 * Grows the database at `path` to `count` memories, through the service's own schema and
 * statements. What is there stays: an interrupted run goes on where it stopped.
 */
export function fill(path: string, count: number, tell: (done: number) => void = () => {}): void {
  const db = openForBulk(path);
  const projectId = ensureProject(db);
  const add = createAdd(db, projectId);
  let done = countMemories(db);
  while (done < count) {
    const rows: MadeRow[] = [];
    for (let at = done; at < Math.min(count, done + perTransaction); at += 1) rows.push(rowOf(at));
    add(rows);
    done += rows.length;
    tell(done);
  }
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close(true);
}

/** With the service's schema, and with a commit that does not wait for the disk. */
export function openForBulk(path: string): Database {
  const db = openDatabase(path);
  migrate(db, path);
  // A crash loses the last transactions and nothing else; the next run makes them again.
  db.run('PRAGMA synchronous = NORMAL');
  db.run('PRAGMA cache_size = -1000000');
  db.run('PRAGMA wal_autocheckpoint = 50000');
  return db;
}

export function ensureProject(db: Database): number {
  db.run('INSERT INTO projects (name) VALUES (?) ON CONFLICT DO NOTHING', [project]);
  const row = db.prepare('SELECT id FROM projects WHERE name = ?').get(project);
  return (row as { id: number }).id;
}

function countMemories(db: Database): number {
  // Nothing is ever removed here, so the last number is the count, and costs no scan. A benchmark
  // saves to the file only once it is filled; so a larger one must not begin as its copy.
  const row = db.prepare('SELECT ifnull(max(seq), 0) AS n FROM memories').get();
  return (row as { n: number }).n;
}

function createAdd(db: Database, projectId: number): (rows: MadeRow[]) => void {
  const insert = prepareInsert(db);
  const passagesOf = createPassages({ reads: db, writes: db });
  return db.transaction((rows: MadeRow[]) => {
    for (const row of rows) {
      const seq = insert(projectId, row, row.createdAt);
      const of = { projectId, userId: row.userId, seq };
      passagesOf.insert(of, 0, indexPassages(row.content, row.metadata));
    }
  });
}
