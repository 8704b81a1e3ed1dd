import { bucketOf } from '../../../bucket.ts';
import { failedBeforeImport } from '../../status.ts';
import { byKey, type InsertedMemory } from '../row.ts';
import { overRows, type Statement, statement, type Value } from '../statement.ts';

const buckets = 4_096;
const maxToken = 1e12;

/** Returns a random task id that contains the bucket, so that a lease identifies the row. */
export function newTaskId(bucket: number): number {
  return Math.floor(Math.random() * 2 ** 41) * buckets + bucket;
}

export function bucketOfTask(taskId: number): number {
  return taskId % buckets;
}

const types = [
  ...['int8', 'int2', 'int8', 'text', 'text', 'text', 'text', 'int8', 'int8', 'int4'],
  ...['int8', 'int8', 'text'],
];
const columns = `project_id, bucket, task_id, kind, memory_id, user_id, state, accepted_at, run_at,
  place, updated_at, lease_token, error_message`;

const insert = overRows(types, (values) => `INSERT INTO tasks (${columns}) ${values}`);

const upsert = overRows(
  types,
  (values) => `INSERT INTO tasks AS t (${columns}) ${values}
    ON CONFLICT (project_id, bucket, memory_id, kind) WHERE memory_id IS NOT NULL DO UPDATE SET
      state = 'waiting', accepted_at = excluded.accepted_at, run_at = excluded.run_at,
      place = excluded.place, updated_at = greatest(t.updated_at, excluded.updated_at),
      attempts = 0, lease_token = t.lease_token + 1, lease_owner = NULL,
      chunks_complete = 0, chunks_total = 0, error_message = NULL, last_change = NULL`,
);

type Indexed = { projectId: number; memoryId: string; userId: string; at: number };

/**
 * Inserts the indexing tasks of new memories. `failed` lists memories imported with the status
 * `failed`.
 */
export function queueNew(
  waiting: readonly Indexed[],
  failed: readonly Indexed[] = [],
): Statement[] {
  return insert([
    ...waiting.map((one, place) => rowOf(one, 'waiting', place)),
    ...failed.map((one, place) => rowOf(one, 'failed', place)),
  ]);
}

export function indexedOf({ projectId, memory, createdAt }: InsertedMemory): Indexed {
  return { projectId, memoryId: memory.id, userId: memory.userId, at: createdAt };
}

/** Restarts the tasks of memories with new text. Inserts a task for a memory without one. */
export function queueAgain(tasks: readonly Indexed[]): Statement[] {
  return upsert(tasks.map((one, place) => rowOf(one, 'waiting', place)).sort(byKey));
}

function rowOf(
  { projectId, memoryId, userId, at }: Indexed,
  state: string,
  place: number,
): Value[] {
  const bucket = bucketOf(userId);
  const runAt = state === 'waiting' ? at : null;
  const token = Math.floor(Math.random() * maxToken);
  const named = [projectId, bucket, newTaskId(bucket), 'index', memoryId, userId];
  const error = state === 'failed' ? failedBeforeImport : null;
  return [...named, state, at, runAt, place, at, token, error];
}

/** Completes the memory's task, if any. A worker that is processing the task loses the lease. */
export function settleTask(
  { projectId, bucket, memoryId }: { projectId: number; bucket: number; memoryId: string },
  chunks: number,
  at: number,
): Statement {
  return statement(
    `UPDATE tasks SET state = 'complete', run_at = NULL, error_message = NULL, lease_owner = NULL,
       lease_token = lease_token + 1, chunks_complete = $4::int4, chunks_total = $4::int4,
       updated_at = greatest(updated_at, $5::int8)
     WHERE project_id = $1::int8 AND bucket = $2::int2 AND memory_id = $3 AND kind = 'index'`,
    projectId,
    bucket,
    memoryId,
    chunks,
    at,
  );
}
