import type { Database } from 'bun:sqlite';
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

/**
 * Parameters beside a join, and of LIMIT, are written `+?`: SQLite plans by the value of a bare
 * one, and prepares the statement again for each new value, which takes longer than to run it.
 */
export const joined = `memories AS m
  LEFT JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq`;

/** Of a user ?2 of a project ?1 the first hundred: the same for every statement, until they go. */
export const firstOfUser = (column: 'seq' | 'id') =>
  `SELECT ${column} FROM memories WHERE project_id = ?1 AND user_id = ?2
   ORDER BY created_at, id LIMIT 100`;

type Insert = (
  projectId: number,
  memory: Omit<NewMemory, 'passages'>,
  createdAt: number,
  updatedAt?: number,
) => number;

/** Adds a memory, and returns the number of its row. */
export function prepareInsert(db: Database): Insert {
  const insert = db.prepare(
    `INSERT INTO memories
       (project_id, id, user_id, type, metadata, source, external_id, created_at, updated_at,
        content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (projectId, memory, createdAt, updatedAt = createdAt) => {
    const { id, userId, type, metadata, source, externalId, content } = memory;
    const described = [projectId, id, userId, type, metadata, source, externalId];
    const { lastInsertRowid } = insert.run(...described, createdAt, updatedAt, content);
    return Number(lastInsertRowid);
  };
}
