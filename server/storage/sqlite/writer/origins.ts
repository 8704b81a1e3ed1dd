import type { Database } from 'bun:sqlite';
import { isExpired } from '../../../memory/visibility.ts';
import type { NewMemory, StoredMemory } from '../../storage.ts';
import { memoriesWithTasks, memoryColumns } from '../row.ts';

type Known = StoredMemory & { rowId: number };

/** Finds and replaces memories by their origin: user, source and external id. */
export type Origins = {
  /**
   * Returns the memory with this origin, or null. If that memory has expired, removes its external
   * id and returns null.
   */
  find(projectId: number, memory: NewMemory, at: number): Known | null;
  replace(
    projectId: number,
    rowId: number,
    memory: NewMemory,
    change: { lastChange: number; at: number },
  ): void;
};

export function createOrigins(db: Database): Origins {
  const select = db.prepare<Known, [number, string, string, string]>(
    `SELECT m.row_id AS rowId, ${memoryColumns} FROM ${memoriesWithTasks}
     WHERE m.project_id = +? AND m.user_id = +? AND ifnull(m.source, '') = +?
       AND m.external_id = +?`,
  );
  const forget = db.prepare(
    'UPDATE memories SET external_id = NULL WHERE project_id = ? AND row_id = ?',
  );
  const update = db.prepare(
    `UPDATE memories SET type = ?, content = ?, metadata = ?, occurred_at = ?, expires_at = ?,
       version = version + 1, last_change = ?, updated_at = max(?, updated_at)
     WHERE project_id = ? AND row_id = ?`,
  );
  return {
    find(projectId, { userId, source, externalId }, at) {
      if (externalId === null) return null;
      const known = select.get(projectId, userId, source ?? '', externalId);
      if (known === null || !isExpired(known, at)) return known;
      forget.run(projectId, known.rowId);
      return null;
    },
    replace(projectId, rowId, memory, { lastChange, at }) {
      const { type, content, metadata, occurredAt, expiresAt } = memory;
      update.run(type, content, metadata, occurredAt, expiresAt, lastChange, at, projectId, rowId);
    },
  };
}
