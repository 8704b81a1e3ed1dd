import type { Database } from 'bun:sqlite';
import type { Job, Lease, Storage, StoredStatus } from '../storage.ts';
import type { Owner, Passages } from './passages.ts';
import { statusColumn } from './row.ts';
import type { Writer } from './writer.ts';

type JobOperations = Pick<
  Storage,
  | 'getStatus'
  | 'claimJobs'
  | 'storePassages'
  | 'failJob'
  | 'releaseJob'
  | 'recoverJobs'
  | 'nextJobAt'
  | 'queueState'
>;

type Due = { projectId: number; seq: number; memoryId: string; attempts: number };

/** The queue's side of a job's life; its states are drawn where the table is made. */
export function createJobs(db: Database, { write }: Writer, passagesOf: Passages): JobOperations {
  const status = prepareStatus(db);
  // What was never tried is due whatever the clock says, and so is what waits longer than any
  // backoff: the clock was set back.
  const due = db.prepare<Due, [number, number, number]>(
    `SELECT j.project_id AS projectId, j.memory_seq AS seq, m.id AS memoryId, j.attempts
     FROM jobs AS j JOIN memories AS m ON m.seq = j.memory_seq AND m.project_id = j.project_id
     WHERE j.state = 'waiting' AND (j.attempts = 0 OR j.run_at <= ? OR j.run_at > ?)
     ORDER BY j.run_at LIMIT ?`,
  );
  const claim = db.prepare<{ leaseToken: number }, [number, number]>(
    `UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_token = lease_token + 1
     WHERE project_id = ? AND memory_seq = ? RETURNING lease_token AS leaseToken`,
  );
  const leased = db.prepare<Owner, [number, string, number]>(
    `SELECT m.project_id AS projectId, m.user_id AS userId, m.seq FROM memories AS m
     JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq
     WHERE m.project_id = ? AND m.id = ? AND j.state = 'running' AND j.lease_token = ?`,
  );
  const progress = db.prepare(
    `UPDATE jobs SET state = ?, chunks_complete = ?, chunks_total = ?, error_message = NULL,
       updated_at = ? WHERE project_id = ? AND memory_seq = ?`,
  );
  const fail = db.prepare(
    `UPDATE jobs SET state = ?, run_at = ifnull(?, run_at), error_message = ?, updated_at = ?
     WHERE project_id = ? AND memory_seq = ?`,
  );
  const release = db.prepare(
    `UPDATE jobs SET state = 'waiting', attempts = attempts - 1
     WHERE project_id = ? AND memory_seq = ?`,
  );
  const recover = db.prepare(
    `UPDATE jobs SET state = 'waiting', attempts = attempts - ? WHERE state = 'running'`,
  );
  const next = db.prepare<{ at: number | null }, []>(
    `SELECT min(run_at) AS at FROM jobs WHERE state = 'waiting'`,
  );
  const state = prepareQueueState(db);

  /** Runs `step` for the holder of the lease alone. */
  function guarded({ projectId, memoryId, leaseToken }: Lease, step: (of: Owner) => void) {
    return write(() => {
      const of = leased.get(projectId, memoryId, leaseToken);
      if (of !== null) step(of);
      return of !== null;
    });
  }

  function claimDue({ now, horizon, limit }: Parameters<Storage['claimJobs']>[0]): Job[] {
    const jobs: Job[] = [];
    for (const { projectId, seq, memoryId, attempts } of due.all(now, horizon, limit)) {
      if (attempts > 0 && jobs.length > 0) break;
      const leaseToken = claim.get(projectId, seq)?.leaseToken ?? 0;
      jobs.push({ projectId, memoryId, leaseToken, attempt: attempts + 1 });
      if (attempts > 0) break;
    }
    return jobs;
  }

  return {
    getStatus: async (projectId, id) => status(projectId, id),
    claimJobs: (claim) => write(() => claimDue(claim)),
    storePassages: ({ now, first, passages, total, ...lease }) =>
      guarded(lease, (of) => {
        if (first === 0) passagesOf.remove(of);
        passagesOf.insert(of, first, passages);
        const complete = first + passages.length;
        const at = complete === total ? 'complete' : 'running';
        progress.run(at, complete, total, now, of.projectId, of.seq);
      }),
    failJob: ({ now, retryAt, errorMessage, ...lease }) =>
      guarded(lease, ({ projectId, seq }) => {
        const then = retryAt === null ? 'failed' : 'waiting';
        fail.run(then, retryAt, errorMessage, now, projectId, seq);
      }),
    releaseJob: (lease) => guarded(lease, ({ projectId, seq }) => release.run(projectId, seq)),
    recoverJobs: ({ countAttempt }) => write(() => recover.run(countAttempt ? 0 : 1).changes),
    nextJobAt: async () => next.get()?.at ?? null,
    queueState: async () => state(),
  };
}

function prepareStatus(db: Database) {
  // A saved memory has no job: its passages were stored with it.
  const stored = `(SELECT count(*) FROM passages AS p WHERE p.project_id = m.project_id
    AND p.user_id = m.user_id AND p.memory_seq = m.seq)`;
  const find = db.prepare<StoredStatus, [number, string]>(
    `SELECT m.id AS memoryId,
       ${statusColumn},
       ifnull(j.chunks_complete, ${stored}) AS chunksComplete,
       ifnull(j.chunks_total, ${stored}) AS chunksTotal,
       ifnull(j.attempts, 0) AS attempts, j.error_message AS errorMessage,
       m.created_at AS createdAt, ifnull(j.updated_at, m.updated_at) AS updatedAt
     FROM memories AS m
     LEFT JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq
     WHERE m.project_id = ? AND m.id = ?`,
  );
  return (projectId: number, id: string) => find.get(projectId, id);
}

function prepareQueueState(db: Database) {
  const find = db.prepare<{ pending: number; oldestAcceptedAt: number | null }, []>(
    `SELECT ifnull(sum(n), 0) AS pending, min(oldest) AS oldestAcceptedAt FROM (
       SELECT count(*) AS n, min(accepted_at) AS oldest FROM jobs
       WHERE state IN ('waiting', 'running') GROUP BY project_id)`,
  );
  return () => find.get() ?? { pending: 0, oldestAcceptedAt: null };
}
