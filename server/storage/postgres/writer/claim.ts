import { claimable } from '../../claimable.ts';
import type { Task, TaskQueue } from '../../task-storage.ts';
import type { Connection } from '../connection.ts';
import { byKey } from '../row.ts';
import { after, overRows, query, type Statement, statement, type Value } from '../statement.ts';

type Claim = Parameters<TaskQueue['claimTasks']>[0];

/**
 * Claims due tasks in one statement. Distributed tables need two statements, because Citus cannot
 * lock rows of several buckets in one statement.
 */
export async function claimTasks(
  connection: Connection,
  claim: Claim,
  isDistributed: boolean,
): Promise<Task[]> {
  if (isDistributed) return claimInTwo(connection, claim);
  const [rows = []] = await connection.run([claimStatement(claim)]);
  return rows.map((row) => ({ ...row }) as Task);
}

/**
 * A task that has never been attempted is always due. A task that waits longer than the maximum
 * backoff is also due, because the clock must have been set back.
 */
const isDue = `run_at IS NOT NULL AND (
  (state = 'waiting' AND (attempts = 0 OR run_at <= $1::int8 OR run_at > $2::int8))
  OR (state = 'running' AND leased_until <= statement_timestamp()))`;

const claimedColumns = `t.project_id::float8 AS "projectId", t.user_id AS "userId",
  t.memory_id AS "memoryId", t.kind, t.lease_token::float8 AS "leaseToken", t.attempts AS attempt`;

/** Claims tasks by the same rule as `claimable`. */
function claimStatement({ owner, now, leaseMs, horizon, limit }: Claim): Statement {
  return statement(
    `WITH due AS MATERIALIZED (
       SELECT project_id, bucket, task_id, attempts, run_at, place AS in_write FROM tasks
       WHERE ${isDue} ORDER BY run_at, place LIMIT $3::int4 FOR UPDATE SKIP LOCKED),
     ordered AS (
       SELECT *, row_number() OVER (ORDER BY run_at, in_write, task_id) AS place FROM due),
     chosen AS (
       SELECT * FROM ordered WHERE place = 1 OR place < coalesce(
         (SELECT min(place) FROM ordered WHERE attempts > 0), $3::int4 + 1)),
     claimed AS (
       UPDATE tasks AS t SET state = 'running', attempts = t.attempts + 1,
         lease_token = t.lease_token + 1, lease_owner = $4,
         leased_until = statement_timestamp() + make_interval(secs => $5::float8)
       FROM chosen AS c
       WHERE t.project_id = c.project_id AND t.bucket = c.bucket AND t.task_id = c.task_id
       RETURNING t.*, c.place AS claimed_as)
     SELECT ${claimedColumns} FROM claimed AS t ORDER BY claimed_as`,
    now,
    horizon,
    limit,
    owner,
    leaseMs / 1_000,
  );
}

/** Skips a task that another server has claimed since it was read. */
const claimRead = overRows(
  ['int8', 'int2', 'int8', 'int8', 'int8', 'text', 'float8'],
  (values) => `UPDATE tasks AS t SET state = 'running', attempts = t.attempts + 1,
      lease_token = t.lease_token + 1, lease_owner = v.owner, leased_until = ${after('v.seconds')}
    FROM (${values}) AS v (project_id, bucket, task_id, lease_token, run_at, owner, seconds)
    WHERE t.project_id = v.project_id AND t.bucket = v.bucket AND t.task_id = v.task_id
      AND t.lease_token = v.lease_token AND t.run_at = v.run_at
      AND (t.state = 'waiting' OR t.leased_until <= statement_timestamp())
    RETURNING ${claimedColumns}`,
);

/** The maximum number of attempts if other servers claim all the tasks first. */
const maxReads = 5;

async function claimInTwo(connection: Connection, claim: Claim): Promise<Task[]> {
  for (let read = 1; ; read += 1) {
    const due = await readDue(connection, claim);
    const claimed = due.length === 0 ? [] : await claimDue(connection, claim, due);
    if (claimed.length > 0 || due.length === 0 || read === maxReads) return claimed;
  }
}

async function readDue(connection: Connection, { now, horizon, limit }: Claim): Promise<Due[]> {
  const due = await query<Due>(
    connection.run,
    `SELECT project_id::float8 AS "projectId", bucket, task_id::float8 AS "taskId", memory_id AS "memoryId",
         lease_token::float8 AS "leaseToken", run_at::float8 AS "runAt", attempts
       FROM tasks WHERE ${isDue} ORDER BY run_at, place, task_id LIMIT $3::int4`,
    now,
    horizon,
    limit,
  );
  return claimable(due);
}

async function claimDue(
  connection: Connection,
  { owner, leaseMs }: Claim,
  due: Due[],
): Promise<Task[]> {
  const values = due.map(({ projectId, bucket, taskId, leaseToken, runAt }): Value[] => {
    return [projectId, bucket, taskId, leaseToken, runAt, owner, leaseMs / 1_000];
  });
  const claimed = (await connection.run(claimRead(values.sort(byKey)))).flat() as Task[];
  const places = new Map(due.map(({ memoryId }, place) => [memoryId, place]));
  const placeOf = ({ memoryId }: Task) => places.get(memoryId) ?? 0;
  return claimed.map((row) => ({ ...row })).sort((a, b) => placeOf(a) - placeOf(b));
}

type Due = {
  projectId: number;
  bucket: number;
  taskId: number;
  memoryId: string;
  leaseToken: number;
  runAt: number;
  attempts: number;
};
