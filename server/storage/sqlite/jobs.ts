import type { Database } from 'bun:sqlite';
import { mapInTurns } from '../../turns.ts';
import type { Job, Lease, PassageStep, Storage, StoredStatus } from '../storage.ts';
import type { Owner, Passages } from './passages.ts';
import { statusColumn } from './row.ts';
import type { Connections } from './settings.ts';
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

type Leased = Owner & { stored: number };
type Due = Omit<Job, 'attempt'> & { seq: number; attempts: number };

/** The texts of one claim are all in memory at once: about so many UTF-16 units, and the last. */
const claimedUnits = 1_000_000;

/** The queue's side of a job's life; its states are drawn where the table is made. */
export function createJobs(
  { reads, writes }: Connections,
  { write }: Writer,
  passagesOf: Passages,
): JobOperations {
  const status = prepareStatus(reads);
  // What was never tried is due whatever the clock says, and so is what waits longer than any
  // backoff: the clock was set back.
  const due = writes.prepare<Due, [number, number, number]>(
    `SELECT j.project_id AS projectId, j.memory_seq AS seq, m.id AS memoryId,
       j.lease_token + 1 AS leaseToken, j.attempts, m.content, m.metadata
     FROM jobs AS j JOIN memories AS m ON m.seq = j.memory_seq AND m.project_id = j.project_id
     WHERE j.run_at IS NOT NULL AND j.state = 'waiting'
       AND (j.attempts = 0 OR j.run_at <= +? OR j.run_at > +?)
     ORDER BY j.run_at LIMIT +?`,
  );
  const claim = writes.prepare(
    `UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_token = lease_token + 1
     WHERE project_id = ? AND memory_seq = ?`,
  );
  const leased = writes.prepare<Leased, [number, string, number]>(
    `SELECT m.project_id AS projectId, m.user_id AS userId, m.seq,
       j.chunks_complete AS stored FROM memories AS m
     JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq
     WHERE m.project_id = +? AND m.id = +? AND j.state = 'running' AND j.lease_token = +?`,
  );
  const progress = writes.prepare(
    `UPDATE jobs SET state = iif(?1 = ?2, 'complete', 'running'),
       run_at = iif(?1 = ?2, NULL, run_at), chunks_complete = ?1, chunks_total = ?2,
       error_message = NULL, updated_at = ?3 WHERE project_id = ?4 AND memory_seq = ?5`,
  );
  const fail = writes.prepare(
    `UPDATE jobs SET state = ?, run_at = ?, error_message = ?, updated_at = ?
     WHERE project_id = ? AND memory_seq = ?`,
  );
  const release = writes.prepare(
    `UPDATE jobs SET state = 'waiting', attempts = attempts - 1
     WHERE project_id = ? AND memory_seq = ?`,
  );
  const recover = writes.prepare(
    `UPDATE jobs SET state = 'waiting', attempts = attempts - ?
     WHERE run_at IS NOT NULL AND state = 'running'`,
  );
  const next = reads.prepare<{ at: number | null }, []>(
    `SELECT run_at AS at FROM jobs WHERE run_at IS NOT NULL AND state = 'waiting'
     ORDER BY run_at LIMIT 1`,
  );
  const state = prepareQueueState(reads);

  /** Runs `step` for the holder of the lease; false for anybody else. */
  function guarded({ projectId, memoryId, leaseToken }: Lease, step: (of: Leased) => void) {
    const of = leased.get(projectId, memoryId, leaseToken);
    if (of !== null) step(of);
    return of !== null;
  }

  function readDue({ now, horizon, limit }: Parameters<Storage['claimJobs']>[0]): Due[] {
    const read: Due[] = [];
    let units = 0;
    for (const job of due.iterate(now, horizon, limit)) {
      if (job.attempts > 0 && read.length > 0) break;
      read.push(job);
      units += job.content.length;
      if (job.attempts > 0 || units >= claimedUnits) break;
    }
    return read;
  }

  function claimDue(which: Parameters<Storage['claimJobs']>[0]): Job[] {
    return readDue(which).map(({ seq, attempts, ...job }) => {
      claim.run(job.projectId, seq);
      return { ...job, attempt: attempts + 1 };
    });
  }

  function storeStep({ now, first, passages, total, ...lease }: PassageStep): boolean {
    return guarded(lease, ({ stored, ...of }) => {
      if (first === 0 && stored > 0) passagesOf.remove(of);
      passagesOf.insert(of, first, passages);
      progress.run(first + passages.length, total, now, of.projectId, of.seq);
    });
  }

  return {
    getStatus: async (projectId, id) => status(projectId, id),
    claimJobs: (claim) => write(() => claimDue(claim)),
    storePassages: (steps) => write((turn) => mapInTurns(steps, storeStep, turn)),
    failJob: ({ now, retryAt, errorMessage, ...lease }) =>
      write(() =>
        guarded(lease, ({ projectId, seq }) => {
          const then = retryAt === null ? 'failed' : 'waiting';
          fail.run(then, retryAt, errorMessage, now, projectId, seq);
        }),
      ),
    releaseJob: (lease) =>
      write(() => guarded(lease, ({ projectId, seq }) => release.run(projectId, seq))),
    recoverJobs: ({ countAttempt }) => write(() => recover.run(countAttempt ? 0 : 1).changes),
    nextJobAt: async () => next.get()?.at ?? null,
    queueState: async () => state(),
  };
}

function prepareStatus(db: Database) {
  // A saved memory has no job: its passages were stored with it.
  const find = db.prepare<StoredStatus & { stored: number | null }, [number, string]>(
    `SELECT m.id AS memoryId,
       ${statusColumn},
       j.chunks_complete AS chunksComplete, j.chunks_total AS chunksTotal,
       iif(j.memory_seq IS NULL, (SELECT count(*) FROM passages AS p
         WHERE p.project_id = m.project_id AND p.user_id = m.user_id AND p.memory_seq = m.seq),
         NULL) AS stored,
       ifnull(j.attempts, 0) AS attempts, j.error_message AS errorMessage,
       m.created_at AS createdAt, ifnull(j.updated_at, m.updated_at) AS updatedAt
     FROM memories AS m
     LEFT JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq
     WHERE m.project_id = +? AND m.id = +?`,
  );
  return (projectId: number, id: string): StoredStatus | null => {
    const row = find.get(projectId, id);
    if (row === null) return null;
    const { stored, ...status } = row;
    return stored === null ? status : { ...status, chunksComplete: stored, chunksTotal: stored };
  };
}

function prepareQueueState(db: Database) {
  const find = db.prepare<{ pending: number; oldestAcceptedAt: number | null }, []>(
    `SELECT count(*) AS pending, min(accepted_at) AS oldestAcceptedAt
     FROM jobs INDEXED BY jobs_pending WHERE run_at IS NOT NULL`,
  );
  return () => find.get() ?? { pending: 0, oldestAcceptedAt: null };
}
