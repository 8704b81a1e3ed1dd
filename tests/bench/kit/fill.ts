import type { Database } from 'bun:sqlite';
import { indexPassages } from '../../../server/memory/passages.ts';
import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { createPassages } from '../../../server/storage/sqlite/passages.ts';
import { insertMemory, insertValues } from '../../../server/storage/sqlite/row.ts';
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
  // Nothing is ever removed here, so the last number is the count, and costs no scan.
  const row = db.prepare('SELECT ifnull(max(seq), 0) AS n FROM memories').get();
  return (row as { n: number }).n;
}

function createAdd(db: Database, projectId: number): (rows: MadeRow[]) => void {
  const insert = db.prepare<{ seq: number }, (string | number | null)[]>(insertMemory);
  const passagesOf = createPassages(db);
  return db.transaction((rows: MadeRow[]) => {
    const placed = rows.map((row) => {
      const stored = insert.get(...insertValues(projectId, row, row.createdAt));
      return { row, seq: stored?.seq ?? 0 };
    });
    // They are kept by user: in this order neighbours share a page while it is at hand.
    placed.sort((a, b) => (a.row.userId < b.row.userId ? -1 : 1));
    for (const { row, seq } of placed) {
      const passages = indexPassages(row.content, row.metadata);
      passagesOf.insert({ projectId, userId: row.userId, seq }, 0, passages);
    }
  });
}
