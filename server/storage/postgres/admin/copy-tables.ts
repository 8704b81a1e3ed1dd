import { bucketOf, bucketOfId } from '../../../bucket.ts';
import type { Row, StoredTable, TableName } from '../../copy/tables.ts';
import { originOf } from '../row.ts';
import type { Value } from '../statement.ts';
import { newTaskId } from '../writer/task-rows.ts';

/* How the tables of a copy are stored, and the columns that follow from what is copied. */

/** A task that was running has its attempt back. */
const tasks = {
  from: 'tasks',
  expressions: {
    state: `CASE t.state WHEN 'running' THEN 'waiting' ELSE t.state END`,
    attempts: `t.attempts - (t.state = 'running')::int4`,
  },
  further: ['t.bucket'],
};

export const stored: Record<TableName, StoredTable> = {
  uptime: { from: 'maintenance', where: `t.name = 'uptime'`, keys: { name: 'text' } },
  projects: { from: 'projects', keys: { project_id: 'integer' } },
  api_keys: {
    from: 'api_keys',
    keys: { created_at: 'integer', id: 'text' },
    expressions: { readOnly: 't.read_only::int4' },
  },
  users: {
    from: 'users',
    keys: { project_id: 'integer', bucket: 'integer', user_id: 'text' },
    further: ['t.bucket'],
  },
  memories: {
    from: 'memories',
    keys: { project_id: 'integer', bucket: 'integer', id: 'text' },
    large: 'content',
    further: [
      't.bucket, t.id_bucket, t.origin',
      `(SELECT l.location FROM memory_locations AS l WHERE l.project_id = t.project_id
        AND l.bucket = t.id_bucket AND l.id = t.id) AS location`,
    ],
  },
  // In the order of the queue.
  pending_tasks: {
    ...tasks,
    where: 't.run_at IS NOT NULL',
    keys: {
      run_at: 'integer',
      place: 'integer',
      project_id: 'integer',
      accepted_at: 'integer',
      bucket: 'integer',
      task_id: 'integer',
    },
  },
  ended_tasks: {
    ...tasks,
    where: 't.run_at IS NULL',
    keys: { project_id: 'integer', bucket: 'integer', task_id: 'integer' },
  },
  // In the order of age, in which an SQLite database forgets them.
  idempotency_keys: {
    from: 'idempotency_keys',
    keys: {
      stored_uptime: 'integer',
      created_at: 'integer',
      project_id: 'integer',
      bucket: 'integer',
      scope: 'text',
      key: 'text',
    },
    large: 'body',
    expressions: {
      // A response whose memory is not where it says would not be recognized as expired.
      memoryUserId: `(SELECT m.user_id FROM memories AS m WHERE m.project_id = t.project_id
        AND m.bucket = t.memory_bucket AND m.id = t.memory_id)`,
    },
    further: ['t.bucket'],
  },
};

type Derived = Record<string, Value>;

/** The types of the columns that are inserted beside the copied ones. */
export const derivedTypes: { [Table in TableName]?: Record<string, string> } = {
  users: { bucket: 'int2' },
  memories: { bucket: 'int2', id_bucket: 'int2', origin: 'text' },
  pending_tasks: { bucket: 'int2', task_id: 'int8', place: 'int4' },
  ended_tasks: { bucket: 'int2', task_id: 'int8', place: 'int4' },
  idempotency_keys: { bucket: 'int2', memory_bucket: 'int2' },
};

/** `place` is the number of the row in its table, by which tasks keep their order. */
export function derive(table: TableName, row: Row, place: number): Derived {
  const bucket = bucketOfRow(table, row);
  switch (table) {
    case 'memories':
      return { bucket, id_bucket: foreignBucket(row, bucket), origin: originOfRow(row) };
    case 'pending_tasks':
    case 'ended_tasks':
      return { bucket, task_id: newTaskId(bucket), place };
    case 'idempotency_keys': {
      const userId = textOf(row.memoryUserId);
      return { bucket, memory_bucket: userId === null ? null : bucketOf(userId) };
    }
    default:
      return { bucket };
  }
}

/** Whether the columns that follow from the others fit them, so that the row is found. */
export function isMisplaced(table: TableName, row: Row): boolean {
  const { bucket, id_bucket: idBucket = null, origin = null, location = null } = row;
  if (derivedTypes[table] === undefined) return false;
  const expected = bucketOfRow(table, row);
  if (bucket !== expected) return true;
  if (table !== 'memories') return false;
  const named = bucketOfId(String(row.id));
  // Memories that were imported have a location, even if their id names their bucket.
  const isLocated = idBucket === named && location === expected;
  return origin !== originOfRow(row) || !(isLocated || (idBucket === null && named === expected));
}

function bucketOfRow(table: TableName, { userId = null, key = null }: Row): number {
  return bucketOf(String((table === 'idempotency_keys' ? key : userId) ?? ''));
}

/** The bucket that the id names, if it is not the memory's. */
function foreignBucket({ id = null }: Row, bucket: number): number | null {
  const named = bucketOfId(String(id));
  return named === bucket ? null : named;
}

function originOfRow({ source, externalId }: Row): string | null {
  return originOf({ source: textOf(source), externalId: textOf(externalId) });
}

function textOf(value: Row[string] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
