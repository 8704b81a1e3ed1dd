import type { Database } from 'bun:sqlite';
import { erasedResponse } from '../../../memory/responses.ts';
import type { Write, WriteResult } from '../../storage.ts';
import { unfinished } from './group-commit.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { ScrubNote } from './scrub.ts';
import type { Users } from './users.ts';

type Row = { rowId: number; id: string };
type ErasedRow = Row & { expiresAt: number | null };

/** An erasure runs in several groups. Later memories than the first group's are not deleted. */
export type Erasure = Write & { userId: string; name?: string; lastRowId?: number };

export type Removal = {
  /** Deletes memories of one user, with their tasks and their text in stored responses. */
  remove(projectId: number, userId: string, rows: readonly Row[]): void;
  /** Deletes all memories of a user. Expired memories are not counted. */
  eraseUser(erasure: Erasure): WriteResult | typeof unfinished;
  /** Deletes at most `limit` memories that have expired by `now`. Returns their number. */
  removeExpired(now: number, limit: number): number;
};

/** The number of rows deleted per group. Other writes can run between two groups. */
const rowsPerGroup = 500;

export function createRemoval(
  db: Database,
  parts: { keys: IdempotencyKeys; users: Users; scrub: ScrubNote },
): Removal {
  const { keys, users, scrub } = parts;
  // The number of memories that each running erasure has deleted. Requests with the same
  // idempotency key share it, and a rollback undoes it together with the deletions.
  db.run('CREATE TEMP TABLE erasures (name TEXT PRIMARY KEY, erased INTEGER NOT NULL)');
  const addErased = db.prepare<{ erased: number }, [string, number]>(
    `INSERT INTO erasures (name, erased) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET erased = erased + excluded.erased RETURNING erased`,
  );
  const removeErased = db.prepare('DELETE FROM erasures WHERE name = ?');
  const removeTasks = db.prepare('DELETE FROM tasks WHERE project_id = ? AND memory_row_id = ?');
  const removeMemory = db.prepare('DELETE FROM memories WHERE project_id = ? AND row_id = ?');
  const newest = db.prepare<{ rowId: number | null }, [number, string]>(
    'SELECT max(row_id) AS rowId FROM memories WHERE project_id = ? AND user_id = ?',
  );
  const some = db.prepare<ErasedRow, [number, string, number, number]>(
    `SELECT row_id AS rowId, id, expires_at AS expiresAt FROM memories
     WHERE project_id = ? AND user_id = ? AND row_id <= ? ORDER BY created_at, id LIMIT ?`,
  );
  const expired = db.prepare<Row & { projectId: number; userId: string }, [number, number]>(
    `SELECT row_id AS rowId, id, project_id AS projectId, user_id AS userId FROM memories
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
      erasure.lastRowId ??= newest.get(projectId, userId)?.rowId ?? 0;
      const rows = some.all(projectId, userId, erasure.lastRowId, rowsPerGroup);
      if (rows.length > 0) remove(projectId, userId, rows);
      erasure.name ??= nameOf(erasure);
      const unexpired = rows.filter(({ expiresAt }) => (expiresAt ?? at + 1) > at).length;
      const { erased } = addErased.get(erasure.name, unexpired) ?? { erased: unexpired };
      if (rows.length === rowsPerGroup) return unfinished;
      scrub.noteErased();
      removeErased.run(erasure.name);
      return keys.store(erasure, erasedResponse(erased));
    },
    removeExpired(now, limit) {
      const rows = expired.all(now, limit);
      for (const row of rows) remove(row.projectId, row.userId, [row]);
      return rows.length;
    },
  };
}

function nameOf({ projectId, userId, idempotency }: Erasure): string {
  if (idempotency === null) return crypto.randomUUID();
  return JSON.stringify([projectId, userId, idempotency.scope, idempotency.key]);
}
