import { bucketOf, bucketOfId } from '../../../bucket.ts';
import type { Row, StoredTable, TableName } from '../../copy/tables.ts';
import { originOf } from '../row.ts';
import type { Value } from '../statement.ts';
import { newTaskId } from '../writer/task-rows.ts';

/** A running task is copied as waiting, and its current attempt is not counted. */
const tasks = {
  from: 'tasks',
  expressions: {
    state: `CASE t.state WHEN 'running' THEN 'waiting' ELSE t.state END`,
    attempts: `t.attempts - (t.state = 'running')::int4`,
  },
  further: ['t.bucket'],
};

export const stored: Record<TableName, StoredTable> = {
  uptime: { from: 'maintenance', where: `t.name = 'uptime'`, keys: ['name'] },
  projects: { from: 'projects', keys: ['project_id'] },
  api_keys: {
    from: 'api_keys',
    keys: ['created_at', 'id'],
    expressions: { readOnly: 't.read_only::int4', metricsOnly: 't.metrics_only::int4' },
  },
  users: { from: 'users', keys: ['project_id', 'bucket', 'user_id'], further: ['t.bucket'] },
  memories: {
    from: 'memories',
    keys: ['project_id', 'bucket', 'id'],
    large: 'content',
    further: [
      't.bucket, t.id_bucket, t.origin',
      `(SELECT l.location FROM memory_locations AS l WHERE l.project_id = t.project_id
        AND l.bucket = t.id_bucket AND l.id = t.id) AS location`,
    ],
  },
  // Copied in queue order.
  pending_tasks: {
    ...tasks,
    where: 't.run_at IS NOT NULL',
    keys: ['run_at', 'place', 'project_id', 'accepted_at', 'bucket', 'task_id'],
  },
  ended_tasks: {
    ...tasks,
    where: 't.run_at IS NULL',
    keys: ['project_id', 'bucket', 'task_id'],
  },
  // Copied from oldest to newest, because SQLite deletes old keys in row order.
  idempotency_keys: {
    from: 'idempotency_keys',
    keys: ['stored_uptime', 'created_at', 'project_id', 'bucket', 'scope', 'key'],
    large: 'body',
    expressions: {
      memoryUserId: `(SELECT m.user_id FROM memories AS m WHERE m.project_id = t.project_id
        AND m.bucket = t.memory_bucket AND m.id = t.memory_id)`,
    },
    further: ['t.bucket'],
  },
};

/** The columns that are inserted in addition to the copied columns, with their types. */
const taskColumns = { bucket: 'int2', task_id: 'int8', place: 'int4' };
export const derivedColumns: { [Table in TableName]?: Record<string, string> } = {
  users: { bucket: 'int2' },
  memories: { bucket: 'int2', id_bucket: 'int2', origin: 'text' },
  pending_tasks: taskColumns,
  ended_tasks: taskColumns,
  idempotency_keys: { bucket: 'int2', memory_bucket: 'int2' },
};

/**
 * Returns the values of the derived columns. `place` is the row's number in its table, and it
 * preserves the order of tasks.
 */
export function derive(table: TableName, row: Row, place: number): Record<string, Value> {
  const bucket = bucketOfRow(table, row);
  switch (table) {
    case 'memories': {
      const named = bucketOfId(String(row.id));
      return { bucket, id_bucket: named === bucket ? null : named, origin: originOfRow(row) };
    }
    case 'idempotency_keys': {
      const userId = textOf(row.memoryUserId);
      return { bucket, memory_bucket: userId === null ? null : bucketOf(userId) };
    }
    default:
      return { bucket, task_id: newTaskId(bucket), place };
  }
}

/** Whether the derived columns are wrong, so that reads would not find the row. */
export function isMisplaced(table: TableName, row: Row): boolean {
  if (derivedColumns[table] === undefined) return false;
  const bucket = bucketOfRow(table, row);
  if (row.bucket !== bucket) return true;
  if (table !== 'memories') return false;
  const named = bucketOfId(String(row.id));
  // An imported memory has a row in memory_locations even if its id contains its bucket.
  const isLocated = row.id_bucket === named && row.location === bucket;
  const isReached = isLocated || (row.id_bucket === null && named === bucket);
  return !isReached || row.origin !== originOfRow(row);
}

function bucketOfRow(table: TableName, { userId, key }: Row): number {
  return bucketOf(textOf(table === 'idempotency_keys' ? key : userId) ?? '');
}

function originOfRow({ source, externalId }: Row): string | null {
  return originOf({ source: textOf(source), externalId: textOf(externalId) });
}

function textOf(value: Row[string] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
