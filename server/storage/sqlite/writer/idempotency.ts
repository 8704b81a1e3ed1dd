import type { Database } from 'bun:sqlite';
import { deletedBody, newResult } from '../../../memory/responses.ts';
import { isExpired } from '../../../memory/visibility.ts';
import { keyReused } from '../../refusals.ts';
import type { NewResponse, StoredResponse, Write, WriteResult } from '../../storage.ts';
import type { Uptime } from './uptime.ts';

export type IdempotencyKeys = {
  /** Runs a client's write once per key. Stores the effect and the response in one transaction. */
  once(write: Write, effect: () => NewResponse): WriteResult;
  /** Returns the stored response, or null. Throws if the key was used for a different request. */
  find(write: Write): WriteResult | null;
  store(write: Write, response: NewResponse): WriteResult;
  /** Removes the memory's text from every stored response. */
  removeText(projectId: number, memoryId: string): void;
  /**
   * Deletes keys that are old by both the wall clock and the uptime. Returns the number of deleted
   * keys.
   */
  sweep(sweep: { now: number; keptMs: number; limit: number }): number;
};

type Row = StoredResponse & { fingerprint: string; expiresAt: number | null };

export function createIdempotencyKeys(db: Database, uptime: Uptime): IdempotencyKeys {
  const select = db.prepare<Row, [number, string, string]>(
    `SELECT k.fingerprint, k.status, k.body, k.memory_id AS memoryId, k.version,
       m.expires_at AS expiresAt
     FROM idempotency_keys AS k
     LEFT JOIN memories AS m ON m.project_id = k.project_id AND m.id = k.memory_id
     WHERE k.project_id = +? AND k.scope = +? AND k.key = +?`,
  );
  const insert = db.prepare(
    `INSERT INTO idempotency_keys
       (project_id, scope, key, fingerprint, status, body, memory_id, version, stored_uptime,
        created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const removeText = db.prepare(
    `UPDATE idempotency_keys SET body = ?, version = NULL WHERE project_id = ? AND memory_id = ?`,
  );
  // The oldest keys have the lowest row ids. Keys stored while the clock was ahead are skipped, so
  // that they do not block the deletion of other keys.
  const sweep = db.prepare(
    `DELETE FROM idempotency_keys WHERE created_at < ?1 AND stored_uptime < ?2 AND row_id IN (
       SELECT row_id FROM idempotency_keys
       WHERE created_at <= ?3 AND stored_uptime < ?2 ORDER BY row_id LIMIT ?4)`,
  );

  function find({ projectId, idempotency, at }: Write): WriteResult | null {
    if (idempotency === null) return null;
    const row = select.get(projectId, idempotency.scope, idempotency.key);
    if (row === null) return null;
    const { fingerprint, expiresAt, ...response } = row;
    if (fingerprint !== idempotency.fingerprint) throw keyReused();
    const { memoryId } = response;
    if (memoryId === null || !isExpired({ expiresAt }, at)) return { response, replayed: true };
    const deleted = { ...response, body: deletedBody(memoryId), version: null };
    return { response: deleted, replayed: true };
  }

  function store({ projectId, idempotency, at }: Write, response: NewResponse): WriteResult {
    if (idempotency !== null) {
      const { scope, key, fingerprint } = idempotency;
      const { status, body, memoryId, version } = response;
      const key_ = [projectId, scope, key, fingerprint];
      insert.run(...key_, status, body, memoryId, version, uptime.now(), at);
    }
    return newResult(response);
  }

  return {
    once: (write, effect) => find(write) ?? store(write, effect()),
    find,
    store,
    removeText: (projectId, memoryId) => {
      removeText.run(deletedBody(memoryId), projectId, memoryId);
    },
    sweep: ({ now, keptMs, limit }) =>
      sweep.run(now - keptMs, uptime.now() - keptMs, now, limit).changes,
  };
}
