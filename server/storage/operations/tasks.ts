import { faultPoint } from '../../threads/fault-points.ts';
import type { Tx, WriteOperation, WriteTx } from '../engine.ts';
import type { Lease, Task, TaskResult } from '../types/tasks.ts';
import { later } from './columns.ts';
import { changeKnownUser, keyOfUser, randomNumber } from './users.ts';

type Claim = { owner: string; now: number; leaseMs: number; horizon: number; limit: number };
type Failure = Lease & { now: number; retryAt: number | null; errorMessage: string };
type Due = Omit<Task, 'attempt'> & { attempts: number };
type MemoryKey = Pick<Lease, 'projectId' | 'userId' | 'memoryId'>;

/*
 * Conditions on the state are a CASE. From others, PostgreSQL would conclude that few tasks are in
 * such a state, and read all tasks instead of looking each up by its key. In a statement that asks
 * for the time, Citus turns `CASE state WHEN 'running'` into `CASE state WHEN NULL`, and it rejects
 * a function of the time within a CASE.
 */

/** Identifies a task by its first four parameters, and a lease by the fifth. */
const isTask = `project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
  AND memory_id = CAST($3 AS text) AND kind = CAST($4 AS text)`;
const leaseCheck = faultPoint('lease-check', "CASE WHEN state = 'running' THEN lease_token =");
const isLeased = `${isTask} AND ${leaseCheck} CAST($5 AS bigint) END`;

const leaseOf = ({ projectId, userId, memoryId, kind, leaseToken }: Lease) =>
  [projectId, userId, memoryId, kind, leaseToken] as const;

/** Throws `rate_limited` if the project would have too many pending records. */
export async function reserveInQueue(tx: WriteTx, projectId: number, added: number): Promise<void> {
  if (added === 0) return;
  await tx.queueLimit.reserve(projectId, added, () => countPending(tx, projectId));
}

/** Throws `rate_limited` if the queue has no room for even one record. Reserves nothing. */
export function assertNotFull(tx: WriteTx, projectId: number): Promise<void> {
  return tx.queueLimit.reserve(projectId, 0, () => countPending(tx, projectId), 1);
}

async function countPending(tx: Tx, projectId: number): Promise<number> {
  // The plus keeps SQLite from reading all tasks of the project by another index.
  const row = await tx.one<{ pending: number }>(
    `SELECT count(*) AS pending FROM tasks
     WHERE run_at IS NOT NULL AND +project_id = CAST($1 AS bigint)`,
    [projectId],
  );
  // mutate-ignore constant: a count always has a row
  return row?.pending ?? 0;
}

/** Adds a memory's indexing task, or restarts the task with the new text. */
export function queueTask(
  tx: Tx,
  { projectId, userId, memoryId }: MemoryKey,
  { at, ordinal }: { at: number; ordinal: number },
): Promise<number> {
  return tx.run(
    `INSERT INTO tasks AS t (project_id, user_id, memory_id, kind, state, accepted_at, ordinal,
       run_at, updated_at, lease_token)
     VALUES ($1, $2, $3, 'index', 'waiting', $4, $5, $4, $4, $6)
     ON CONFLICT (project_id, user_id, memory_id, kind) DO UPDATE SET
       state = 'waiting', accepted_at = excluded.accepted_at, ordinal = excluded.ordinal,
       run_at = excluded.run_at, attempts = 0, lease_token = t.lease_token + 1,
       lease_owner = NULL, chunks_complete = 0, chunks_total = 0, error_message = NULL,
       last_change = NULL,
       updated_at = CASE WHEN t.updated_at > excluded.updated_at THEN t.updated_at
         ELSE excluded.updated_at END`,
    [projectId, userId, memoryId, at, ordinal, randomNumber()],
  );
}

/** The error message of a memory that was imported with the status `failed`. */
const failedBeforeImport = 'processing failed before the memory was imported';

export function addFailedTask(
  tx: Tx,
  { projectId, userId, memoryId }: MemoryKey,
  at: number,
): Promise<number> {
  return tx.run(
    `INSERT INTO tasks (project_id, user_id, memory_id, kind, state, accepted_at, ordinal, run_at,
       updated_at, error_message, lease_token)
     VALUES ($1, $2, $3, 'index', 'failed', $4, 0, NULL, $4, $5, $6)`,
    [projectId, userId, memoryId, at, failedBeforeImport, randomNumber()],
  );
}

/** Completes a memory's task, because a direct write makes the memory complete. */
export function settleTask(
  tx: Tx,
  { projectId, userId, memoryId }: MemoryKey,
  { chunks, at }: { chunks: number; at: number },
): Promise<number> {
  return tx.run(
    `UPDATE tasks SET state = 'complete', run_at = NULL, error_message = NULL, lease_owner = NULL,
       lease_token = lease_token + 1, chunks_complete = CAST($5 AS bigint),
       chunks_total = CAST($5 AS bigint), updated_at = ${later('updated_at', '$6')}
     WHERE ${isTask}`,
    [projectId, userId, memoryId, 'index', chunks, at],
  );
}

function isDue({ dialect }: Tx, now: string, horizon: string): string {
  return `(CASE WHEN state = 'waiting' THEN attempts = 0 OR run_at <= CAST(${now} AS bigint)
      OR run_at > CAST(${horizon} AS bigint) END
    OR CASE WHEN state = 'running' THEN leased_until END <= ${dialect.sharedClock(now)})`;
}

/** The maximum number of attempts if other servers claim all the tasks first. */
const maxReads = 5;

/**
 * Claims up to `limit` due tasks for `leaseMs`, in the order in which they became due, and
 * increments their attempt counts. A task is due if it has never been attempted, if its retry time
 * is at or before `now` or after `horizon` (because the clock was set back), or if it is running
 * with an expired lease. A task that has been attempted before is claimed alone, so that a task
 * that crashes the process cannot use up the attempts of other tasks.
 */
export const claimTasks: WriteOperation<Claim, Task[]> = {
  isBackground: true,
  async run(tx, asked) {
    for (let read = 1; ; read += 1) {
      const due = claimable(await readDue(tx, asked));
      const claimed = await claim(tx, due, asked);
      // mutate-ignore operand: without due tasks, another read finds none
      // mutate-ignore boundary: the next claim finds the other tasks
      if (claimed.length > 0 || due.length === 0 || read === maxReads) return claimed;
    }
  },
};

/**
 * Claims those tasks that no other server has claimed or completed since they were read. The
 * statement does not contain the condition of the index of pending tasks: after an ANALYZE of an
 * empty queue, PostgreSQL would read that whole index for each task.
 */
async function claim(tx: Tx, due: Due[], { owner, now, leaseMs, horizon }: Claim): Promise<Task[]> {
  const text = `UPDATE tasks SET state = 'running', attempts = attempts + 1,
      lease_token = lease_token + 1, lease_owner = CAST($6 AS text),
      leased_until = ${tx.dialect.sharedClock('$7')} + CAST($8 AS bigint)
    WHERE ${isTask} AND lease_token = CAST($5 AS bigint) AND ${isDue(tx, '$7', '$9')}`;
  const claimed = await Promise.all(
    due.map((task) => tx.run(text, [...leaseOf(task), owner, now, leaseMs, horizon])),
  );
  return due
    .filter((_, index) => claimed[index] !== 0)
    .map(({ attempts, ...task }) => {
      return { ...task, leaseToken: task.leaseToken + 1, attempt: attempts + 1 };
    });
}

function claimable(due: Due[]): Due[] {
  const attempted = due.findIndex(({ attempts }) => attempts > 0);
  return attempted < 0 ? due : due.slice(0, Math.max(1, attempted));
}

function readDue(tx: Tx, { now, horizon, limit }: Claim): Promise<Due[]> {
  return tx.all<Due>(
    `SELECT project_id AS "projectId", user_id AS "userId", memory_id AS "memoryId", kind,
       lease_token AS "leaseToken", attempts
     FROM tasks WHERE run_at IS NOT NULL AND ${isDue(tx, '$1', '$2')}
     ORDER BY run_at, ordinal LIMIT CAST($3 AS bigint) ${tx.dialect.skipLocked}`,
    [now, horizon, limit],
  );
}

/**
 * Extends leases that have not ended. A task that another transaction has locked is left out, so
 * that the others do not wait for it.
 */
export const renewLeases: WriteOperation<{ leases: Lease[]; leaseMs: number }, void> = {
  async run(tx, { leases, leaseMs }) {
    const now = tx.dialect.sharedClock('$6');
    const find = `SELECT 1 AS found FROM tasks WHERE ${isLeased} ${tx.dialect.skipLocked}`;
    const text = `UPDATE tasks SET leased_until = ${now} + CAST($7 AS bigint)
      WHERE ${isLeased} AND leased_until > ${now}`;
    await Promise.all(
      leases.map(async (lease) => {
        if ((await tx.one(find, leaseOf(lease))) === undefined) return;
        await tx.run(text, [...leaseOf(lease), 0, leaseMs]);
      }),
    );
  },
};

const complete = `UPDATE tasks SET state = 'complete', run_at = NULL,
    chunks_complete = CAST($6 AS bigint), chunks_total = CAST($6 AS bigint), error_message = NULL,
    lease_owner = NULL, updated_at = ${later('updated_at', '$7')}, last_change = CAST($8 AS bigint)
  WHERE ${isLeased}`;

/** Stores the results, except those whose lease has been lost. Returns which were stored. */
export const completeTasks: WriteOperation<TaskResult[], boolean[]> = {
  isBackground: true,
  cost: (results) => results.length,
  users: (results) => results.map(({ projectId, userId }) => keyOfUser(projectId, userId)),
  async run(tx, results) {
    const changes = new Map<string, number>();
    const users = new Map(results.map((one) => [keyOfUser(one.projectId, one.userId), one]));
    await Promise.all(
      [...users].map(async ([key, { projectId, userId }]) => {
        const change = await changeKnownUser(tx, projectId, userId);
        if (change !== null) changes.set(key, change);
      }),
    );
    const completed = await Promise.all(
      results.map((result) => {
        const change = changes.get(keyOfUser(result.projectId, result.userId));
        // Without a change, the user and the task have been erased.
        if (change === undefined) return 0;
        return tx.run(complete, [...leaseOf(result), result.chunks, result.now, change]);
      }),
    );
    return completed.map((count) => count > 0);
  },
};

/**
 * Schedules a retry, or fails the task if `retryAt` is null. Returns false if the lease has been
 * lost.
 */
export const failTask: WriteOperation<Failure, boolean> = {
  async run(tx, failure) {
    const { now, retryAt, errorMessage } = failure;
    const failed = await tx.run(
      `UPDATE tasks SET state = $6, run_at = CAST($7 AS bigint), error_message = $8,
         lease_owner = NULL, updated_at = ${later('updated_at', '$9')}
       WHERE ${isLeased}`,
      [...leaseOf(failure), retryAt === null ? 'failed' : 'waiting', retryAt, errorMessage, now],
    );
    return failed > 0;
  },
};

/** Undoes the claim of a task that has not been started. Returns false if the lease was lost. */
export const releaseTask: WriteOperation<Lease, boolean> = {
  async run(tx, lease) {
    const released = await tx.run(
      `UPDATE tasks SET state = 'waiting', attempts = attempts - 1, lease_owner = NULL
       WHERE ${isLeased}`,
      leaseOf(lease),
    );
    return released > 0;
  },
};

/**
 * Requeues running tasks whose owner has exited or whose lease has expired. The attempt still
 * counts. Returns the number of requeued tasks. Where one process runs all tasks, a running task
 * leased by another owner was left behind by a previous process.
 */
export const recoverTasks: WriteOperation<{ owner: string; now: number }, number> = {
  run: (tx, { owner, now }) =>
    tx.run(
      `UPDATE tasks SET state = 'waiting', lease_owner = NULL
       WHERE run_at IS NOT NULL AND state = 'running'
         AND (${tx.dialect.hasOtherOwner('$1')} OR leased_until <= ${tx.dialect.sharedClock('$2')})`,
      [owner, now],
    ),
};
