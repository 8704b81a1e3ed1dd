import { isExpired, mayAccess } from '../../../memory/visibility.ts';
import { reportProgress } from '../../../threads/serve.ts';
import type { StoredKey } from '../../key-storage.ts';
import { type StatusRow, statusOf } from '../../status.ts';
import type { Part, Read, Storage, StoredMemory, StoredStatus } from '../../storage.ts';
import { findByIds, findMemory, isId, notExpired, statusColumn, withTask } from '../row.ts';
import { overPlaces, query, type Run } from '../statement.ts';

export async function readMemory(
  run: Run,
  { projectId, id, now, onlyUserId, range }: Read & Part & { id: string },
): Promise<StoredMemory | null> {
  const found = await findMemory(run, projectId, id, range);
  if (found === null || isExpired(found, now) || !mayAccess(onlyUserId, found)) return null;
  const { bucket: _, ...memory } = found;
  return memory;
}

// The chunks of a memory without a task are counted on request.
const findStatuses = overPlaces(
  ['int8', 'int2', 'text', 'int8'],
  (values, inBucket) => `SELECT m.id AS "memoryId", m.user_id AS "userId", ${statusColumn},
      coalesce(t.chunks_complete, 0) AS "chunksComplete",
      coalesce(t.chunks_total, 0) AS "chunksTotal",
      CASE WHEN t.task_id IS NULL THEN m.content END AS "savedContent",
      coalesce(t.attempts, 0) AS attempts, t.error_message AS "errorMessage",
      m.created_at::float8 AS "createdAt",
      greatest(m.updated_at, t.updated_at)::float8 AS "updatedAt"
    FROM (${values}) AS p (project_id, bucket, id, now) JOIN memories AS m
      ON m.project_id = p.project_id AND m.bucket = p.bucket AND m.id = p.id
      ${withTask}
    WHERE ${notExpired('p.now')}${inBucket('m.bucket')}`,
);

export async function readStatuses(
  run: Run,
  { projectId, ids, now, onlyUserId }: Parameters<Storage['getStatuses']>[0],
): Promise<StoredStatus[]> {
  const rows = (await findByIds(run, projectId, ids.filter(isId), (places) =>
    findStatuses(places.map((place) => [...place, now])),
  )) as StatusRow[];
  const byId = new Map<string, StoredStatus>();
  for (const row of rows) {
    if (mayAccess(onlyUserId, row)) byId.set(row.memoryId, statusOf(row));
    reportProgress();
  }
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const keyColumns = `k.id, p.name AS project, k.project_id::float8 AS "projectId", k.name, k.prefix,
  k.last_four AS "lastFour", k.user_id AS "userId", k.read_only AS "readOnly",
  k.metrics_only AS "metricsOnly",
  k.created_at::float8 AS "createdAt", k.expires_at::float8 AS "expiresAt",
  k.last_used_at::float8 AS "lastUsedAt", k.revoked_at::float8 AS "revokedAt"`;

const keysWithProjects = 'api_keys AS k JOIN projects AS p ON p.project_id = k.project_id';

export async function findKey(run: Run, hash: string): Promise<StoredKey | null> {
  const text = `SELECT ${keyColumns} FROM ${keysWithProjects} WHERE k.hash = $1`;
  const [key] = await query<StoredKey>(run, text, hash);
  return key ?? null;
}

export function listKeys(run: Run): Promise<StoredKey[]> {
  return query(run, `SELECT ${keyColumns} FROM ${keysWithProjects} ORDER BY k.created_at, k.id`);
}
