import type { Database } from 'bun:sqlite';
import { deletedBody } from '../../../memory/responses.ts';
import { keyReused } from '../../refusals.ts';
import type { StoredResponse, Write, WriteResult } from '../../storage.ts';
import type { Uptime } from './uptime.ts';

export type IdempotencyKeys = {
  /** Runs a client's write once for its key, storing effect and response in one transaction. */
  once(write: Write, effect: () => StoredResponse): WriteResult;
  /** The response of an earlier request with this key, or null. Throws for another request. */
  find(write: Write): WriteResult | null;
  store(write: Write, response: StoredResponse): WriteResult;
  /** Removes the memory's text from every stored response. */
  removeText(projectId: number, memoryId: string): void;
  /** Forgets keys that are past their retention by both clocks. Returns how many. */
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
  // Rows are added in the order of time, so the oldest are the first by row_id, but for those of a
  // clock that was ahead. They wait for their time, and are not in the way of the rest.
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
    const isExpired = memoryId !== null && expiresAt !== null && expiresAt <= at;
    const shown = isExpired
      ? { ...response, body: deletedBody(memoryId), version: null }
      : response;
    return { response: shown, replayed: true };
  }

  function store({ projectId, idempotency, at }: Write, response: StoredResponse): WriteResult {
    if (idempotency !== null) {
      const { scope, key, fingerprint } = idempotency;
      const { status, body, memoryId, version } = response;
      const key_ = [projectId, scope, key, fingerprint];
      insert.run(...key_, status, body, memoryId, version, uptime.now(), at);
    }
    return { response, replayed: false };
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
