import type { Database } from 'bun:sqlite';
import type { ContentRange, NewMemory } from '../storage.ts';

/** The status of the indexing task, or `complete` if the memory has no task. */
export const memoryStatus = `CASE ifnull(t.state, 'complete')
  WHEN 'waiting' THEN 'processing' WHEN 'running' THEN 'processing'
  WHEN 'failed' THEN 'failed' ELSE 'complete' END`;

export const statusColumn = `${memoryStatus} AS status`;

export const memoryColumns = `m.content, m.id, m.user_id AS userId, m.type, m.metadata, m.source,
  m.external_id AS externalId, m.occurred_at AS occurredAt, m.expires_at AS expiresAt, m.version,
  m.created_at AS createdAt,
  max(m.updated_at, ifnull(t.updated_at, m.updated_at)) AS updatedAt, ${statusColumn}`;

/** Like `memoryColumns`, with a part of the content. The first two values are from `partValues`. */
export const partColumns = memoryColumns.replace(
  'm.content',
  'substr(m.content, +?, +?) AS content',
);

export function partValues({ offset, length }: ContentRange): [begin: number, length: number] {
  return [offset + 1, length];
}

/**
 * Parameters in joins and in LIMIT are written `+?`. SQLite uses the value of a bare `?` for
 * planning and prepares the statement again for each new value, which takes longer than running it.
 */
export const memoriesWithTasks = `memories AS m
  LEFT JOIN tasks AS t
    ON t.project_id = m.project_id AND t.memory_row_id = m.row_id AND t.kind = 'index'`;

/** Excludes expired memories whose rows have not been deleted yet. */
export const notExpired = '(m.expires_at IS NULL OR m.expires_at > +?)';

/** The time of the event that the memory describes or, if unknown, the memory's creation time. */
export const memoryTime = 'ifnull(m.occurred_at, m.created_at)';

type Insert = (
  projectId: number,
  memory: NewMemory,
  row: { version: number; lastChange: number; createdAt: number; updatedAt: number },
) => number;

export function prepareInsert(db: Database): Insert {
  const insert = db.prepare(
    `INSERT INTO memories
       (project_id, id, user_id, type, metadata, source, external_id, version, last_change,
        occurred_at, expires_at, created_at, updated_at, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (projectId, memory, { version, lastChange, createdAt, updatedAt }) => {
    const { id, userId, type, metadata, source, externalId, occurredAt, expiresAt } = memory;
    const { lastInsertRowid } = insert.run(
      projectId,
      id,
      userId,
      type,
      metadata,
      source,
      externalId,
      version,
      lastChange,
      occurredAt,
      expiresAt,
      createdAt,
      updatedAt,
      memory.content,
    );
    return Number(lastInsertRowid);
  };
}
