import type { Database } from 'bun:sqlite';
import { erasedResponse } from '../../../memory/responses.ts';
import { isExpired } from '../../../memory/visibility.ts';
import type { Write, WriteResult } from '../../storage.ts';
import { unfinished } from './group-commit.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { ScrubNote } from './scrub.ts';
import type { Users } from './users.ts';

type Row = { rowId: number; id: string };
type SizedRow = Row & { bytes: number };
type ErasedRow = SizedRow & { expiresAt: number | null };

/** An erasure runs in several groups. The first group sets `name`, which identifies the erasure. */
export type Erasure = Write & { userId: string; name?: string };

export type Removal = {
  /** Deletes memories of one user, with their tasks and their text in stored responses. */
  remove(projectId: number, userId: string, rows: readonly Row[]): void;
  /** Deletes all memories of a user. Expired memories are not counted. */
  eraseUser(erasure: Erasure): WriteResult | typeof unfinished;
  /** Deletes at most `limit` memories that have expired by `now`. */
  removeExpired(now: number, limit: number): { removed: number; more: boolean };
};

/** The number of rows deleted per group. Other writes can run between two groups. */
const rowsPerGroup = 500; // mutate-ignore constant: the same rows are deleted
/** The text deleted per group, in bytes. SQLite overwrites it and writes its pages to the WAL. */
const bytesPerGroup = 8 * 1024 * 1024;

export function createRemoval(
  db: Database,
  parts: { keys: IdempotencyKeys; users: Users; scrub: ScrubNote },
): Removal {
  const { keys, users, scrub } = parts;
  const erasures = createErasures(db);
  const removeTasks = db.prepare('DELETE FROM tasks WHERE project_id = ? AND memory_row_id = ?');
  const removeMemory = db.prepare('DELETE FROM memories WHERE project_id = ? AND row_id = ?');
  const erasedColumns =
    'row_id AS rowId, id, expires_at AS expiresAt, octet_length(content) AS bytes';
  const older = db.prepare<ErasedRow, [number, string, number, number]>(
    `SELECT ${erasedColumns} FROM memories
     WHERE project_id = ? AND user_id = ? AND row_id < ? ORDER BY created_at, id LIMIT ?`,
  );
  const one = db.prepare<ErasedRow, [number, number, string]>(
    `SELECT ${erasedColumns} FROM memories WHERE project_id = ? AND row_id = ? AND id = ?`,
  );
  const expired = db.prepare<SizedRow & { projectId: number; userId: string }, [number, number]>(
    `SELECT row_id AS rowId, id, project_id AS projectId, user_id AS userId,
       octet_length(content) AS bytes FROM memories
     WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
  );

  function remove(projectId: number, userId: string, rows: readonly Row[]): void {
    for (const { rowId, id } of rows) {
      removeTasks.run(projectId, rowId);
      removeMemory.run(projectId, rowId);
      keys.removeText(projectId, id);
    }
    users.recordChange(projectId, userId, -rows.length);
    scrub.noteDeleted();
  }

  return {
    remove,
    eraseUser(erasure) {
      const { projectId, userId, at } = erasure;
      // A request with the same key may have finished since the last group.
      const replay = keys.find(erasure);
      if (replay !== null) return replay;
      erasure.name ??= nameOf(erasure);
      const { rowId, id } = erasures.begin(erasure.name, erasure);
      const found = older.all(projectId, userId, rowId, rowsPerGroup);
      const rows = firstBytes(found);
      const isEnd = found.length < rowsPerGroup && rows.length === found.length;
      // SQLite gives a new row the highest row id plus one. The newest row is therefore deleted
      // last, so that memories saved since the erasure began have higher row ids.
      if (isEnd) rows.push(...one.all(projectId, rowId, id));
      if (rows.length > 0) remove(projectId, userId, rows);
      const unexpired = rows.filter((row) => !isExpired(row, at)).length;
      const erased = erasures.add(erasure.name, unexpired);
      if (!isEnd) return unfinished;
      scrub.noteErased();
      erasures.end(erasure.name);
      return keys.store(erasure, erasedResponse(erased));
    },
    removeExpired(now, limit) {
      const found = expired.all(now, limit);
      const rows = firstBytes(found);
      for (const row of rows) remove(row.projectId, row.userId, [row]);
      return { removed: rows.length, more: found.length === limit || rows.length < found.length };
    },
  };
}

/**
 * The running erasures. Each row has the memory that was the user's newest when the erasure began,
 * and the number of unexpired memories deleted so far. Requests with the same idempotency key share
 * a row. Although the table is temporary, a rollback undoes its changes along with the deletions.
 */
function createErasures(db: Database) {
  db.run(`CREATE TEMP TABLE erasures (
    name TEXT PRIMARY KEY, row_id INTEGER NOT NULL, id TEXT NOT NULL, erased INTEGER NOT NULL)`);
  // Because of max(row_id), SQLite takes `id` from the row with the highest row id.
  const insert = db.prepare<null, [string, number, string]>(
    `INSERT INTO erasures (name, row_id, id, erased)
     SELECT ?, coalesce(max(row_id), 0), coalesce(id, ''), 0 FROM memories
     WHERE project_id = ? AND user_id = ? ON CONFLICT DO NOTHING`,
  );
  const newest = db.prepare<Row, [string]>(
    'SELECT row_id AS rowId, id FROM erasures WHERE name = ?',
  );
  const add = db.prepare<{ erased: number }, [number, string]>(
    'UPDATE erasures SET erased = erased + ? WHERE name = ? RETURNING erased',
  );
  const remove = db.prepare('DELETE FROM erasures WHERE name = ?');
  return {
    /** Returns the memory that was the user's newest when the erasure began. */
    begin(name: string, { projectId, userId }: Erasure): Row {
      insert.run(name, projectId, userId);
      return newest.get(name) ?? { rowId: 0, id: '' };
    },
    /** Adds to the number of unexpired memories deleted so far, and returns it. */
    add: (name: string, deleted: number) => add.get(deleted, name)?.erased ?? deleted,
    end: (name: string) => void remove.run(name),
  };
}

/** Returns the first rows with at most `bytesPerGroup` of text, and at least one row. */
function firstBytes<Sized extends SizedRow>(rows: Sized[]): Sized[] {
  let left = bytesPerGroup;
  const isBeyond = ({ bytes }: Sized, index: number) => {
    left -= bytes;
    return left < 0 && index > 0;
  };
  const end = rows.findIndex(isBeyond);
  return end === -1 ? rows : rows.slice(0, end);
}

function nameOf({ projectId, userId, idempotency }: Erasure): string {
  if (idempotency === null) return crypto.randomUUID();
  return JSON.stringify([projectId, userId, idempotency.scope, idempotency.key]);
}
