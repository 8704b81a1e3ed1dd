import type { Tx } from '../engine.ts';
import { WriteConflict } from '../refusals.ts';
import type { NewMemory, StoredMemory } from '../types/memories.ts';
import { dropSnapshot } from './snapshots.ts';
import { dropParts } from './vector-parts.ts';

/*
 * The columns of memories, as every operation reads and writes them. Parameters are cast, so that
 * PostgreSQL knows their types, and SQLite does not plan a statement again for each value.
 */

/** The status of the indexing task, or `complete` if the memory has no task. */
export const memoryStatus = `CASE coalesce(t.state, 'complete')
  WHEN 'waiting' THEN 'processing' WHEN 'running' THEN 'processing'
  WHEN 'failed' THEN 'failed' ELSE 'complete' END`;

const updatedAt = `CASE WHEN t.updated_at > m.updated_at THEN t.updated_at
  ELSE m.updated_at END`;

/** All columns of a memory but its content. */
export const memoryColumns = `m.id, m.user_id AS "userId", m.type, m.metadata, m.source,
  m.external_id AS "externalId", m.occurred_at AS "occurredAt", m.expires_at AS "expiresAt",
  m.version, m.created_at AS "createdAt", ${updatedAt} AS "updatedAt", ${memoryStatus} AS status`;

export const statusColumns = `m.id AS "memoryId", ${memoryStatus} AS status,
  coalesce(t.chunks_complete, 0) AS "chunksComplete", coalesce(t.chunks_total, 0) AS "chunksTotal",
  coalesce(t.attempts, 0) AS attempts, t.error_message AS "errorMessage",
  m.created_at AS "createdAt", ${updatedAt} AS "updatedAt"`;

/** Whether the task `t` indexes the memory `m`. */
export const isTaskOf = `t.project_id = m.project_id AND t.user_id = m.user_id
  AND t.memory_id = m.id AND t.kind = 'index'`;

export const memoriesWithTasks = `memories AS m LEFT JOIN tasks AS t ON ${isTaskOf}`;

/** The time of the event that the memory describes or, if unknown, the memory's creation time. */
export const memoryTime = 'coalesce(m.occurred_at, m.created_at)';

/** Excludes expired memories whose rows have not been deleted yet. */
export function notExpired(now: string): string {
  return `(m.expires_at IS NULL OR m.expires_at > CAST(${now} AS bigint))`;
}

/** Keeps the later of two times, which must not decrease after the clock was set back. */
export function later(column: string, at: string): string {
  return `CASE WHEN ${column} > CAST(${at} AS bigint) THEN ${column} ELSE CAST(${at} AS bigint) END`;
}

export function bytesOf({ content, metadata }: Pick<NewMemory, 'content' | 'metadata'>): number {
  return Buffer.byteLength(content) + Buffer.byteLength(metadata);
}

/** Returns the first rows with at most this much text, and at least one row. */
export function firstBytes<Row extends { bytes: number }>(rows: Row[], maxBytes: number): Row[] {
  let left = maxBytes;
  const end = rows.findIndex(({ bytes }, index) => {
    left -= bytes;
    return left < 0 && index > 0;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** A longer text is hashed, because it can be too long for an index. */
const maxKeyUnits = 64;

/**
 * Identifies a thing in another system within a user's memories; null without an external id. The
 * length of the source keeps apart pairs whose texts joined are equal.
 */
export function externalKey({ source, externalId }: Pick<NewMemory, 'source' | 'externalId'>) {
  if (externalId === null) return null;
  // mutate-ignore operand: no source has an undefined length
  const text = `${source?.length ?? 0} ${source ?? ''}${externalId}`;
  // mutate-ignore removal: hashes of short texts would identify them, too
  if (text.length <= maxKeyUnits) return text;
  return new Bun.CryptoHasher('sha256').update(text).digest('base64url').slice(0, 22);
}

type Times = Pick<StoredMemory, 'version' | 'createdAt' | 'updatedAt'>;

export function insertMemory(
  tx: Tx,
  projectId: number,
  memory: NewMemory,
  { version, createdAt, updatedAt: updated, change }: Times & { change: number },
): Promise<number> {
  const { id, userId, type, metadata, source, externalId, occurredAt, expiresAt } = memory;
  const values = [projectId, userId, id, type, metadata, source, externalId, externalKey(memory)];
  const numbers = [version, change, bytesOf(memory), occurredAt, expiresAt, createdAt, updated];
  return tx.run(
    `INSERT INTO memories (project_id, user_id, id, type, metadata, source, external_id,
       external_key, version, first_change, last_change, bytes, occurred_at, expires_at,
       created_at, updated_at, content)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14, $15, $16)`,
    [...values, ...numbers, memory.content],
  );
}

/** Returns '' if the memory does not exist. */
export async function readContent(
  tx: Tx,
  projectId: number,
  userId: string,
  id: string,
): Promise<string> {
  const row = await tx.one<{ content: string }>(
    'SELECT content FROM memories WHERE project_id = $1 AND user_id = $2 AND id = $3',
    [projectId, userId, id],
  );
  return row?.content ?? '';
}

/** Whether this change of the user is the last one that wrote the memory. */
export async function isAtChange(
  tx: Tx,
  memory: readonly [projectId: number, userId: string, id: string],
  change: number,
): Promise<boolean> {
  const same = await tx.one(
    `SELECT 1 AS one FROM memories
     WHERE project_id = $1 AND user_id = $2 AND id = $3 AND last_change = CAST($4 AS bigint)`,
    [...memory, change],
  );
  return same !== undefined;
}

/** A memory as a write reads it. `change` is the number of its user's change that wrote it. */
export type KnownMemory = StoredMemory & { bytes: number; change: number };

export const knownColumns = `${memoryColumns}, m.content, m.bytes, m.last_change AS change`;

/**
 * Stores the memory's new text as the user's change `memory.change`. On PostgreSQL, another write
 * may have changed the memory since it was read; this write then runs again.
 */
export async function replaceMemory(
  tx: Tx,
  projectId: number,
  known: KnownMemory,
  memory: KnownMemory,
): Promise<void> {
  const { userId, id, type, content, metadata, occurredAt, expiresAt, version, updatedAt } = memory;
  const values = [type, content, metadata, bytesOf(memory), occurredAt, expiresAt];
  const replaced = await tx.run(
    `UPDATE memories SET type = $5, content = $6, metadata = $7, bytes = CAST($8 AS bigint),
       occurred_at = CAST($9 AS bigint), expires_at = CAST($10 AS bigint),
       version = CAST($11 AS bigint), updated_at = CAST($12 AS bigint),
       last_change = CAST($13 AS bigint)
     WHERE project_id = $1 AND user_id = $2 AND id = $3 AND last_change = CAST($4 AS bigint)`,
    [projectId, userId, id, known.change, ...values, version, updatedAt, memory.change],
  );
  if (replaced === 0) throw new WriteConflict();
  const isSameText = content === known.content && metadata === known.metadata;
  if (!isSameText) await dropSnapshot(tx, projectId, userId);
  await dropParts(tx, [projectId, userId], known.change - 1, known.change);
}
