import { ServiceError } from '../../errors.ts';
import { deletedBody, newResult } from '../../memory/responses.ts';
import { isExpired } from '../../memory/visibility.ts';
import type { Tx, WriteTx } from '../engine.ts';
import { keyReused, WriteConflict } from '../refusals.ts';
import type { NewResponse, StoredResponse, Write, WriteResult } from '../types/memories.ts';
import { longLists, overIds } from './id-lists.ts';

type Row = StoredResponse & { fingerprint: string };

/** Names the idempotency key of a client's write; null for a write without a key. */
export function nameOfKey(input: unknown): string | null {
  const { projectId, idempotency } = (input ?? {}) as Partial<Write>;
  if (idempotency === undefined || idempotency === null) return null;
  return JSON.stringify([projectId, idempotency.scope, idempotency.key]);
}

/** Runs a client's write once per key. The effect and the response commit together. */
export async function once(
  tx: WriteTx,
  write: Write,
  effect: () => Promise<NewResponse>,
): Promise<WriteResult> {
  if (write.idempotency === null) return newResult(await effect());
  const found = await findResponse(tx, write);
  if (found !== null) return found;
  try {
    return await storeResponse(tx, write, await effect());
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // A twin may be the cause, if another server has committed it since then.
    const stored = await findResponse(tx, write);
    if (stored === null) throw error;
    return stored;
  }
}

/** Returns the stored response, or null. Throws if the key was used for a different request. */
export async function findResponse(
  tx: Tx,
  { projectId, idempotency, at }: Write,
): Promise<WriteResult | null> {
  if (idempotency === null) return null;
  const row = await tx.one<Row>(
    `SELECT fingerprint, status, body, memory_id AS "memoryId", version FROM idempotency_keys
     WHERE project_id = $1 AND scope = $2 AND key = $3`,
    [projectId, idempotency.scope, idempotency.key],
  );
  if (row === undefined) return null;
  const { fingerprint, ...response } = row;
  if (fingerprint !== idempotency.fingerprint) throw keyReused();
  const { memoryId } = response;
  if (memoryId === null) return { response, replayed: true };
  const memory = await tx.one<{ expiresAt: number | null }>(
    'SELECT expires_at AS "expiresAt" FROM memories WHERE project_id = $1 AND id = $2',
    [projectId, memoryId],
  );
  if (memory === undefined || !isExpired(memory, at)) return { response, replayed: true };
  const deleted = { ...response, body: deletedBody(memoryId), version: null };
  return { response: deleted, replayed: true };
}

export async function storeResponse(
  tx: Tx,
  { projectId, idempotency, at }: Write,
  response: NewResponse,
): Promise<WriteResult> {
  if (idempotency === null) return newResult(response);
  const { scope, key, fingerprint } = idempotency;
  const { status, body, memoryId, version } = response;
  const stored = await tx.run(
    `INSERT INTO idempotency_keys (project_id, scope, key, fingerprint, status, body, memory_id,
       version, stored_uptime, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ${tx.dialect.uptime}, $9)
     ON CONFLICT DO NOTHING`,
    [projectId, scope, key, fingerprint, status, body, memoryId, version, at],
  );
  // Another server has committed a write with this key since the beginning of this one.
  if (stored === 0) throw new WriteConflict();
  return newResult(response);
}

const removeTexts = overIds(
  5,
  (ids) => `UPDATE idempotency_keys SET version = NULL,
      body = CAST($1 AS text) || memory_id || CAST($2 AS text) || memory_id || CAST($3 AS text)
    WHERE project_id = CAST($4 AS bigint) AND memory_id IN (${ids})`,
  longLists,
);

/** The parts of a deleted memory's body around its id, which needs no escapes. */
const bodyParts = deletedBody(' ').split(' ');

/** Removes the text of the memories from every stored response. */
export async function removeFromResponses(
  tx: Tx,
  projectId: number,
  memories: readonly { id: string }[],
): Promise<void> {
  const statements = removeTexts(memories.map(({ id }) => id));
  await Promise.all(
    statements.map(({ text, ids }) => tx.run(text, [...bodyParts, projectId, ...ids])),
  );
}

/**
 * Deletes keys that are old by both the wall clock and the service's uptime. Keys stored while the
 * clock was ahead are skipped, so that they do not block the deletion of others. In an SQLite file
 * that was copied from PostgreSQL, newer keys may block older ones, which are then kept longer.
 */
export function sweepKeys(
  tx: Tx,
  { now, uptime, keptMs, limit }: { now: number; uptime: number; keptMs: number; limit: number },
): Promise<number> {
  const oldest = tx.dialect.oldestKeys({
    known: 'created_at <= CAST($3 AS bigint)',
    old: 'stored_uptime < CAST($2 AS bigint)',
    limit: 'CAST($4 AS bigint)',
  });
  return tx.run(
    `DELETE FROM idempotency_keys
     WHERE created_at < CAST($1 AS bigint) AND stored_uptime < CAST($2 AS bigint)
       AND (project_id, scope, key) IN (${oldest})`,
    [now - keptMs, uptime - keptMs, now, limit],
  );
}
