import type { NewMemory } from '../storage.ts';

/* How a memory is read from its row, and its job's, and written to it. */

/** A memory's status is its job's; one that was saved has none. */
export const statusColumn = `CASE ifnull(j.state, 'complete')
  WHEN 'waiting' THEN 'processing' WHEN 'running' THEN 'processing'
  WHEN 'failed' THEN 'failed' ELSE 'complete' END AS status`;

/** A memory's columns under the names of StoredMemory. */
export const columns = `m.id, m.user_id AS userId, m.type, m.content, m.metadata, m.source,
  m.external_id AS externalId, m.created_at AS createdAt,
  ifnull(j.updated_at, m.updated_at) AS updatedAt,
  ${statusColumn}`;

export const joined = `memories AS m
  LEFT JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq`;

/** Both a save and an ingest add a memory. */
export const insertMemory = `INSERT INTO memories
  (project_id, id, user_id, type, metadata, source, external_id, created_at, updated_at, content)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`;

export function insertValues(
  projectId: number,
  memory: Omit<NewMemory, 'passages'>,
  createdAt: number,
  updatedAt = createdAt,
) {
  const { id, userId, type, metadata, source, externalId, content } = memory;
  return [projectId, id, userId, type, metadata, source, externalId, createdAt, updatedAt, content];
}
