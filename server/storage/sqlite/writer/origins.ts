import type { Database } from 'bun:sqlite';
import { isExpired } from '../../../memory/visibility.ts';
import type { NewMemory } from '../../storage.ts';

type Known = { rowId: number; id: string; expiresAt: number | null };

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
    `SELECT row_id AS rowId, id, expires_at AS expiresAt FROM memories
     WHERE project_id = ? AND user_id = ? AND ifnull(source, '') = ? AND external_id = ?`,
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
