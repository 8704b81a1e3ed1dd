import { bucketOf } from '../../../bucket.ts';
import { faultPoint } from '../../../fault-points.ts';
import type { Lease, QueueState, Task, TaskQueue, TaskResult } from '../../task-storage.ts';
import type { Connection } from '../connection.ts';
import { answered, isLocked, written } from '../errors.ts';
import { byKey } from '../row.ts';
import { after, overPlaces, query, statement, type Value } from '../statement.ts';
import type { Work } from '../transaction.ts';
import { claimTasks } from './claim.ts';

/**
 * The task queue, which several servers share. A claim skips rows locked by another claim. Leases
 * expire by the database's clock unless a heartbeat renews them. Once a task has been claimed
 * again, results with the previous lease token are rejected.
 */

type Claim = Parameters<TaskQueue['claimTasks']>[0];

export type Tasks = { queue: TaskQueue; stop(): void };

/** Less than a third of the worker's lease, so that a lease survives two lost heartbeats. */
const heartbeatEveryMs = faultPoint('heartbeat-ms', 3_000);

/** Matches a task by its lease, which is passed as parameters $1 to $4. */
const held = `project_id = $1::int8 AND bucket = $2::int2 AND memory_id = $3 AND kind = 'index'
  AND state = 'running' AND lease_token = $4::int8`;

/** Matches a row of `tasks AS t` by the lease in a list of values `v`. */
const isHeld = faultPoint('lease-check', "t.lease_token = v.lease_token AND t.state = 'running'");

/** Much less than a lease, because the leases are not renewed while the results are stored. */
const lockBriefly = statement(`SET LOCAL lock_timeout = '1s'`);

const leaseTypes = ['int8', 'int2', 'text', 'int8'];

/** Locks the rows of the tasks' users in key order and increments their change numbers. */
const countUsers = overPlaces(
  leaseTypes,
  (values, inBucket) => `WITH locked AS (
      SELECT u.project_id, u.bucket, u.user_id FROM users AS u
      WHERE (u.project_id, u.bucket, u.user_id) IN (
        SELECT t.project_id, t.bucket, t.user_id FROM tasks AS t
        JOIN (${values}) AS v (project_id, bucket, memory_id, lease_token)
          ON t.project_id = v.project_id AND t.bucket = v.bucket
            AND t.memory_id = v.memory_id AND t.kind = 'index'
            AND ${isHeld}${inBucket('t.bucket')})
        ${inBucket('u.bucket')}
      ORDER BY u.project_id, u.bucket, u.user_id FOR UPDATE)
    UPDATE users AS u SET last_change = u.last_change + 1 FROM locked AS l
    WHERE u.project_id = l.project_id AND u.bucket = l.bucket AND u.user_id = l.user_id
      ${inBucket('u.bucket')}`,
);

/**
 * The subquery reads one row of `users`. With a join, the planner might read a whole bucket first.
 */
const completeTasks = overPlaces(
  [...leaseTypes, 'int4', 'int8'],
  (
    values,
    inBucket,
  ) => `UPDATE tasks AS t SET state = 'complete', run_at = NULL, chunks_complete = v.chunks,
      chunks_total = v.chunks, error_message = NULL, lease_owner = NULL,
      updated_at = greatest(t.updated_at, v.now), last_change = (
        SELECT u.last_change FROM users AS u
        WHERE u.project_id = t.project_id AND u.bucket = t.bucket AND u.user_id = t.user_id
          ${inBucket('u.bucket')})
    FROM (${values}) AS v (project_id, bucket, memory_id, lease_token, chunks, now)
    WHERE t.project_id = v.project_id AND t.bucket = v.bucket
      AND t.memory_id = v.memory_id AND t.kind = 'index'
      AND ${isHeld}
      ${inBucket('t.bucket')}
    RETURNING t.memory_id AS "memoryId", t.project_id::float8 AS "projectId"`,
);

const renew = overPlaces(
  [...leaseTypes, 'float8'],
  (values, inBucket) => `UPDATE tasks AS t
    SET leased_until = ${after('r.seconds')}
    FROM (SELECT t.project_id, t.bucket, t.memory_id, v.seconds FROM tasks AS t
      JOIN (${values}) AS v (project_id, bucket, memory_id, lease_token, seconds)
        ON t.project_id = v.project_id AND t.bucket = v.bucket
          AND t.memory_id = v.memory_id AND t.kind = 'index'
          AND ${isHeld}
      WHERE t.leased_until > statement_timestamp()${inBucket('t.bucket')}
      FOR UPDATE OF t SKIP LOCKED) AS r
    WHERE t.project_id = r.project_id AND t.bucket = r.bucket
      AND t.memory_id = r.memory_id AND t.kind = 'index'
      ${inBucket('t.bucket')}`,
);

const requeueEnded = `UPDATE tasks SET state = 'waiting', lease_owner = NULL
  WHERE run_at IS NOT NULL AND state = 'running' AND leased_until <= statement_timestamp()
  RETURNING 1 AS one`;

const firstWaiting = `SELECT run_at::float8 AS at FROM tasks
  WHERE run_at IS NOT NULL AND state = 'waiting' ORDER BY run_at LIMIT 1`;

const queueState = `SELECT count(*)::float8 AS pending,
    count(*) FILTER (WHERE state = 'running')::float8 AS running,
    min(accepted_at)::float8 AS "oldestAcceptedAt",
    (SELECT count(*) FROM tasks
      WHERE run_at IS NULL AND error_message IS NOT NULL)::float8 AS failed
  FROM tasks WHERE run_at IS NOT NULL`;

/** `transact` runs work in its own transaction; `connection` is for single statements. */
export function createTasks(
  connection: Connection,
  transact: <T>(work: Work<T>) => Promise<T>,
  isDistributed: boolean,
): Tasks {
  const overTasks = isDistributed ? byBucket : (rows: Value[][]) => [rows];
  const leases = new Map<string, Value[]>();

  function forget(lease: Lease): void {
    leases.delete(nameOf(lease));
  }

  const heartbeat = setInterval(() => {
    if (leases.size === 0) return;
    // If the heartbeat fails, the leases expire and the tasks run again.
    connection.run(overTasks([...leases.values()].sort(byKey)).flatMap(renew)).catch(() => {});
  }, heartbeatEveryMs);
  heartbeat.unref();

  async function claim(wanted: Claim): Promise<Task[]> {
    const tasks = await claimTasks(connection, wanted, isDistributed);
    for (const task of tasks) leases.set(nameOf(task), [...placeOf(task), wanted.leaseMs / 1_000]);
    return tasks;
  }

  async function complete(results: TaskResult[]): Promise<boolean[]> {
    if (results.length === 0) return [];
    for (const result of results) forget(result);
    const store = (part: readonly TaskResult[]) => transact(completion(part, overTasks));
    try {
      return await store(results);
    } catch (error) {
      if (!isLocked(error)) throw error;
      return storeByBucket(results, store);
    }
  }

  /** Updates a task and returns true, or returns false if the lease is no longer valid. */
  async function changed(lease: Lease, set: string, ...more: Value[]): Promise<boolean> {
    forget(lease);
    const text = `UPDATE tasks SET ${set} WHERE ${held} RETURNING 1 AS one`;
    const rows = await written(query(connection.run, text, ...placeOf(lease), ...more));
    return rows.length > 0;
  }

  const queue: TaskQueue = {
    claimTasks: (wanted) => written(claim(wanted)),
    completeTasks: (results) => written(complete(results)),
    failTask: ({ now, retryAt, errorMessage, ...lease }) =>
      changed(
        lease,
        `state = $5, run_at = $6::int8, error_message = $7, lease_owner = NULL,
         updated_at = greatest(updated_at, $8::int8)`,
        retryAt === null ? 'failed' : 'waiting',
        retryAt,
        errorMessage,
        now,
      ),
    releaseTask: (lease) =>
      changed(lease, `state = 'waiting', attempts = attempts - 1, lease_owner = NULL`),
    async recoverTasks() {
      const rows = await written(query(connection.run, requeueEnded));
      return rows.length;
    },
    async nextTaskAt() {
      const [row] = await answered(query<{ at: number }>(connection.run, firstWaiting));
      return row?.at ?? null;
    },
    async taskQueueState() {
      const [row] = await answered(query<QueueState>(connection.run, queueState));
      // mutate-ignore constant: an aggregate has a row
      return row ?? { pending: 0, running: 0, oldestAcceptedAt: null, failed: 0 };
    },
  };
  return { queue, stop: () => clearInterval(heartbeat) };
}

/** Stores the results of each bucket separately. Throws if a user is still locked. */
async function storeByBucket(
  results: readonly TaskResult[],
  store: (part: readonly TaskResult[]) => Promise<boolean[]>,
): Promise<boolean[]> {
  const isStored = new Map<TaskResult, boolean>();
  const parts = Map.groupBy(results, ({ userId }) => bucketOf(userId)).values();
  const settled = await Promise.allSettled(
    [...parts].map(async (part) => {
      for (const [index, held] of (await store(part)).entries()) {
        const result = part[index];
        if (result !== undefined) isStored.set(result, held);
      }
    }),
  );
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  return results.map((result) => isStored.get(result) ?? false);
}

/** Completes the tasks. If there are two results for a task, the first wins. */
function completion(
  results: readonly TaskResult[],
  overTasks: (rows: Value[][]) => Value[][][],
): Work<boolean[]> {
  return async (run) => {
    const rows = results.map((result): Value[] => placeOf(result)).sort(byKey);
    const values = results.map((result) => [...placeOf(result), result.chunks, result.now]);
    const [, ...completed] = await run([
      lockBriefly,
      ...overTasks(rows).flatMap(countUsers),
      ...overTasks(values.sort(byKey)).flatMap(completeTasks),
    ]);
    const names = new Set(
      (completed.flat() as Pick<Lease, 'projectId' | 'memoryId'>[]).map(nameOf),
    );
    return { last: [], result: results.map((result) => names.delete(nameOf(result))) };
  };
}

/** Splits rows by bucket, because Citus can lock rows of only one bucket per statement. */
function byBucket(rows: Value[][]): Value[][][] {
  return [...Map.groupBy(rows, ([, bucket]) => bucket).values()];
}

function placeOf({ projectId, userId, memoryId, leaseToken }: Lease): Value[] {
  return [projectId, bucketOf(userId), memoryId, leaseToken];
}

function nameOf({ projectId, memoryId }: Pick<Lease, 'projectId' | 'memoryId'>): string {
  return `${projectId} ${memoryId}`;
}
