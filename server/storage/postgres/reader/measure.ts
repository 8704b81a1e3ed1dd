import { bucketOf } from '../../../bucket.ts';
import { measure } from '../../../memory/measurement.ts';
import type { MeasuredGroup, Measurement } from '../../project-storage.ts';
import type { Storage } from '../../storage.ts';
import { memoryStatus, notExpired, withTask } from '../row.ts';
import { query, type Run } from '../statement.ts';

type MeasureRead = Parameters<Storage['measureMemories']>[0];
type Part = { sum: Measurement; next: string | null };
/** The last user of a part or, if the user has further memories, the last memory. */
type Position = [userId: string] | [userId: string, createdAt: number, id: string];
type User = { userId: string; memories: number };

/** The approximate number of memories in a part. */
const partMemories = 5_000;
const partUsers = 1_000;

/** Measures the next users. A user with many memories is measured alone, in several parts. */
export async function measureMemories(run: Run, read: MeasureRead): Promise<Part> {
  const { onlyUserId = null, users } = read;
  const position: Position = read.after === null ? [users?.after ?? ''] : JSON.parse(read.after);
  const [userId] = position;
  const modelId = await presentModel(run);
  const measureUser = (from: Position) => measureOne(run, read, modelId, from);
  if (position.length > 1) return measureUser(position);
  if (onlyUserId !== null) return measureUser([onlyUserId]);
  const found = await nextUsers(run, read, userId);
  const chosen = firstUsers(found);
  const last = chosen.at(-1);
  if (last === undefined) return { sum: measure([], null), next: null };
  if (last.memories > partMemories && chosen.length === 1) return measureUser([last.userId]);
  const groups = await readGroups(run, read, modelId, { after: userId, through: last.userId });
  const isEnd = chosen.length === found.length && found.length < partUsers;
  return { sum: measure(groups, null), next: isEnd ? null : positionText([last.userId]) };
}

function positionText(position: Position): string {
  return JSON.stringify(position);
}

/** Returns the id of the model whose vectors searches use, or -1. */
async function presentModel(run: Run): Promise<number> {
  const text = 'SELECT model_id::float8 AS "modelId" FROM models WHERE is_present';
  const [model] = await query<{ modelId: number }>(run, text);
  return model?.modelId ?? -1;
}

function nextUsers(run: Run, { projectId, users }: MeasureRead, after: string): Promise<User[]> {
  return query(
    run,
    `SELECT user_id AS "userId", memories::float8 AS memories FROM users
     WHERE project_id = $1::int8 AND user_id > $2 AND ($3::text IS NULL OR user_id <= $3)
     ORDER BY user_id LIMIT $4::int4`,
    projectId,
    after,
    users?.through ?? null,
    partUsers,
  );
}

/** Returns as many users as fit into a part, but at least one. */
function firstUsers(users: readonly User[]): User[] {
  let total = 0;
  const end = users.findIndex(({ memories }, index) => {
    total += memories;
    return index > 0 && total > partMemories;
  });
  return users.slice(0, end < 0 ? undefined : end);
}

const bytes = 'octet_length(m.content) + octet_length(m.metadata)';
const withVectors = (model: string) => `LEFT JOIN vectors AS v ON v.project_id = m.project_id
  AND v.bucket = m.bucket AND v.memory_id = m.id AND v.change = m.last_change
  AND v.model_id = ${model}`;

function readGroups(
  run: Run,
  { projectId, now }: MeasureRead,
  modelId: number,
  { after, through }: { after: string; through: string },
): Promise<MeasuredGroup[]> {
  return query(
    run,
    `SELECT m.user_id AS "userId", m.type, ${memoryStatus} AS status, count(*)::float8 AS memories,
       sum(${bytes})::float8 AS bytes, count(v.memory_id)::float8 AS embedded,
       min(m.created_at)::float8 AS "oldestAt", max(m.created_at)::float8 AS "newestAt"
     FROM users AS u JOIN memories AS m
       ON m.project_id = u.project_id AND m.bucket = u.bucket AND m.user_id = u.user_id
     ${withTask} ${withVectors('$5::int8')}
     WHERE u.project_id = $1::int8 AND u.user_id > $2 AND u.user_id <= $3
       AND ${notExpired('$4::int8')}
     GROUP BY m.bucket, m.user_id, m.type, ${memoryStatus}`,
    projectId,
    after,
    through,
    now,
    modelId,
  );
}

/** Measures the next memories of one user. */
async function measureOne(
  run: Run,
  { projectId, onlyUserId = null, now }: MeasureRead,
  modelId: number,
  [userId, createdAt = Number.MIN_SAFE_INTEGER, id = '']: Position,
): Promise<Part> {
  const rows = await query<MeasuredGroup & { id: string }>(
    run,
    `SELECT m.id, m.user_id AS "userId", m.type, ${memoryStatus} AS status, 1 AS memories,
       (${bytes})::float8 AS bytes, (v.memory_id IS NOT NULL)::int4 AS embedded,
       m.created_at::float8 AS "oldestAt", m.created_at::float8 AS "newestAt"
     FROM memories AS m ${withTask} ${withVectors('$7::int8')}
     WHERE m.project_id = $1::int8 AND m.bucket = $2::int2 AND m.user_id = $3
       AND (m.created_at, m.id) > ($4::int8, $5) AND ${notExpired('$6::int8')}
     ORDER BY m.created_at, m.id LIMIT $8::int4`,
    ...[projectId, bucketOf(userId), userId, createdAt, id, now, modelId, partMemories],
  );
  const last = rows.length < partMemories ? undefined : rows.at(-1);
  const end: Position | null = onlyUserId === null ? [userId] : null;
  const next = last === undefined ? end : ([userId, last.oldestAt, last.id] satisfies Position);
  const isContinued = createdAt > Number.MIN_SAFE_INTEGER;
  return {
    sum: measure(rows, isContinued ? userId : null),
    next: next === null ? null : positionText(next),
  };
}
