import type { Database } from 'bun:sqlite';
import { faultPoint } from '../../../fault-points.ts';
import { claimable } from '../../claimable.ts';
import { failedBeforeImport } from '../../status.ts';
import type { Storage } from '../../storage.ts';
import type { Lease, Task, TaskResult } from '../../task-storage.ts';
import type { Users } from './users.ts';

type Claim = Parameters<Storage['claimTasks']>[0];
type Failure = Parameters<Storage['failTask']>[0];
type Due = Omit<Task, 'attempt'> & { attempts: number };

/** The writes of the task queue. 002-threads.sql describes the states of a task. */
export type TaskWrites = {
  /** Adds a memory's indexing task, or restarts the task with the new text. */
  queue(projectId: number, userId: string, memoryRowId: number, at: number): void;
  /** Adds the indexing tasks of consecutive new memories. */
  queueInserted(memoryRowIds: number[], at: number): void;
  addFailed(projectId: number, userId: string, memoryRowId: number, at: number): void;
  claimTasks(claim: Claim): Task[];
  completeTasks(results: TaskResult[]): boolean[];
  failTask(failure: Failure): boolean;
  releaseTask(lease: Lease): boolean;
  recoverTasks(recovery: { owner: string; now: number }): number;
};

/** A condition that matches a task by its lease. The lease token must be appended. */
const held = faultPoint('lease-check', "state = 'running' AND lease_token =");

export function createTaskWrites(db: Database, users: Users): TaskWrites {
  // A task that has never been attempted is always due. A task that waits longer than the maximum
  // backoff is also due, because the clock must have been set back.
  const due = db.prepare<Due, [number, number, number, number]>(
    `SELECT t.project_id AS projectId, t.task_id AS taskId, t.lease_token + 1 AS leaseToken, t.kind,
       t.payload, t.attempts, m.id AS memoryId
     FROM tasks AS t
     LEFT JOIN memories AS m ON m.project_id = t.project_id AND m.row_id = t.memory_row_id
     WHERE t.run_at IS NOT NULL AND (
       (t.state = 'waiting' AND (t.attempts = 0 OR t.run_at <= +? OR t.run_at > +?))
       OR (t.state = 'running' AND t.leased_until <= +?))
     ORDER BY t.run_at LIMIT +?`,
  );
  const claim = db.prepare(
    `UPDATE tasks SET state = 'running', attempts = attempts + 1, lease_token = lease_token + 1,
       lease_owner = ?, leased_until = ?
     WHERE project_id = ? AND task_id = ?`,
  );
  const holder = db.prepare<{ userId: string | null }, [number, number, number]>(
    `SELECT user_id AS userId FROM tasks WHERE project_id = ? AND task_id = ? AND ${held} ?`,
  );
  const complete = db.prepare(
    `UPDATE tasks SET state = 'complete', run_at = NULL, chunks_complete = ?1, chunks_total = ?1,
       error_message = NULL, lease_owner = NULL, updated_at = max(?2, updated_at), last_change = ?3
     WHERE project_id = ?4 AND task_id = ?5`,
  );
  const fail = db.prepare(
    `UPDATE tasks SET state = ?, run_at = ?, error_message = ?, updated_at = max(?, updated_at),
       lease_owner = NULL
     WHERE project_id = ? AND task_id = ? AND ${held} ?`,
  );
  const release = db.prepare(
    `UPDATE tasks SET state = 'waiting', attempts = attempts - 1, lease_owner = NULL
     WHERE project_id = ? AND task_id = ? AND ${held} ?`,
  );
  // Only one process at a time runs a database's tasks, so a running task leased by another owner
  // was left behind by a previous process.
  const recover = db.prepare(
    `UPDATE tasks SET state = 'waiting', lease_owner = NULL
     WHERE run_at IS NOT NULL AND state = 'running' AND (lease_owner IS NOT ? OR leased_until <= ?)`,
  );

  return {
    ...createTaskInserts(db),
    claimTasks: ({ owner, now, leaseMs, horizon, limit }) =>
      claimable(due.all(now, horizon, now, limit)).map(({ attempts, ...task }) => {
        claim.run(owner, now + leaseMs, task.projectId, task.taskId);
        return { ...task, attempt: attempts + 1 };
      }),
    completeTasks(results) {
      const changes = new Map<string, number>();
      return results.map(({ projectId, taskId, leaseToken, now, chunks }) => {
        const row = holder.get(projectId, taskId, leaseToken);
        if (row === null) return false;
        const user = JSON.stringify([projectId, row.userId]);
        const lastChange = changes.get(user) ?? users.recordChange(projectId, row.userId ?? '', 0);
        changes.set(user, lastChange);
        complete.run(chunks, now, lastChange, projectId, taskId);
        return true;
      });
    },
    failTask: ({ projectId, taskId, leaseToken, now, retryAt, errorMessage }) => {
      const state = retryAt === null ? 'failed' : 'waiting';
      const lease = [projectId, taskId, leaseToken];
      return fail.run(state, retryAt, errorMessage, now, ...lease).changes > 0;
    },
    releaseTask: ({ projectId, taskId, leaseToken }) =>
      release.run(projectId, taskId, leaseToken).changes > 0,
    recoverTasks: ({ owner, now }) => recover.run(owner, now).changes,
  };
}

/** The writes that add a memory's indexing task. */
function createTaskInserts(
  db: Database,
): Pick<TaskWrites, 'queue' | 'queueInserted' | 'addFailed'> {
  const insert = db.prepare(
    `INSERT INTO tasks
       (project_id, kind, memory_row_id, user_id, state, accepted_at, run_at, updated_at)
     VALUES (?1, 'index', ?2, ?3, 'waiting', ?4, ?4, ?4)
     ON CONFLICT (project_id, memory_row_id, kind) WHERE memory_row_id IS NOT NULL DO UPDATE SET
       state = 'waiting', accepted_at = ?4, run_at = ?4, updated_at = max(?4, updated_at),
       attempts = 0, lease_token = lease_token + 1, lease_owner = NULL, chunks_complete = 0,
       chunks_total = 0, error_message = NULL, last_change = NULL`,
  );
  // A single statement for all rows takes a third of the time that one statement per row takes. A
  // conflict is ignored. If a later item in the batch replaced a memory, its task already exists.
  const insertRange = db.prepare(
    `INSERT INTO tasks
       (project_id, kind, memory_row_id, user_id, state, accepted_at, run_at, updated_at)
     SELECT project_id, 'index', row_id, user_id, 'waiting', ?3, ?3, ?3 FROM memories
     WHERE row_id BETWEEN ?1 AND ?2
     ON CONFLICT DO NOTHING`,
  );
  const insertFailed = db.prepare(
    `INSERT INTO tasks
       (project_id, kind, memory_row_id, user_id, state, accepted_at, run_at, updated_at,
        error_message)
     VALUES (?1, 'index', ?2, ?3, 'failed', ?4, NULL, ?4, ?5)`,
  );
  return {
    queue: (projectId, userId, memoryRowId, at) =>
      void insert.run(projectId, memoryRowId, userId, at),
    queueInserted(memoryRowIds, at) {
      const [first] = memoryRowIds;
      // Each new row id is the highest row id plus one, so the range contains no other rows.
      if (first !== undefined) insertRange.run(first, memoryRowIds.at(-1) ?? first, at);
    },
    addFailed: (projectId, userId, memoryRowId, at) =>
      void insertFailed.run(projectId, memoryRowId, userId, at, failedBeforeImport),
  };
}
