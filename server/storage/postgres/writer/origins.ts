import { bucketOf } from '../../../bucket.ts';
import type { NewMemory } from '../../storage.ts';
import { byKey, type MemoryRow, memoryColumns, originOf, withTask } from '../row.ts';
import { overPlaces, type Statement, statement, type Value } from '../statement.ts';

const find = overPlaces(
  ['int8', 'int2', 'text', 'text'],
  (values, inBucket) => `SELECT m.bucket, m.origin, ${memoryColumns} FROM memories AS m ${withTask}
    WHERE (m.project_id, m.bucket, m.user_id, m.origin) IN (${values})${inBucket('m.bucket')}`,
);

/** The new content of a memory. `versions` is the number of changes within one write. */
export type Replacement = {
  id: string;
  memory: NewMemory;
  versions: number;
  lastChange: number;
  at: number;
};

const replace = overPlaces(
  ['int8', 'int2', 'text', 'text', 'text', 'text', 'int8', 'int8', 'int8', 'int8', 'int8'],
  (
    values,
    inBucket,
  ) => `UPDATE memories AS m SET type = v.type, content = v.content, metadata = v.metadata,
      occurred_at = v.occurred_at, expires_at = v.expires_at, version = m.version + v.versions,
      last_change = v.last_change, updated_at = greatest(m.updated_at, v.at)
    FROM (${values}) AS v (project_id, bucket, id, type, content, metadata, occurred_at, expires_at,
      versions, last_change, at)
    WHERE m.project_id = v.project_id AND m.bucket = v.bucket AND m.id = v.id
      ${inBucket('m.bucket')}`,
);

/** Identifies the memory with this origin among the memories of all users. */
export function originName(userId: string, origin: string): string {
  return `${origin} ${userId}`;
}

export function findOrigins(projectId: number, memories: readonly NewMemory[]): Statement[] {
  const rows = memories.flatMap((memory): Value[][] => {
    const origin = originOf(memory);
    if (origin === null) return []; // mutate-ignore removal: NULL finds no row
    return [[projectId, bucketOf(memory.userId), memory.userId, origin]];
  });
  return find(rows.sort(byKey));
}

/**
 * Removes the origin of an expired memory, so that a new memory can use it. The next maintenance
 * run deletes the expired memory.
 */
export function forgetOrigin(projectId: number, { bucket, id }: MemoryRow): Statement[] {
  return [
    statement(
      `UPDATE memories SET origin = NULL, external_id = NULL
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND id = $3`,
      projectId,
      bucket,
      id,
    ),
  ];
}

/** Replaces the content of memories, which keep their ids and creation times. */
export function replacements(projectId: number, changes: readonly Replacement[]): Statement[] {
  const rows = changes.map(({ id, memory, versions, lastChange, at }): Value[] => {
    const { userId, type, content, metadata, occurredAt, expiresAt } = memory;
    const place = [projectId, bucketOf(userId), id];
    return [...place, type, content, metadata, occurredAt, expiresAt, versions, lastChange, at];
  });
  return replace(rows.sort(byKey));
}
