import type { Database } from 'bun:sqlite';
import { mapInTurns } from '../../turns.ts';
import type { Job, PassageStep, Storage, StoredStatus } from '../storage.ts';
import type { Passages } from './passages.ts';
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

type Due = Omit<Job, 'attempt'> & { attempts: number };

/** The texts of one claim are all in memory at once: about so many UTF-16 units, and the last. */
const claimedUnits = 1_000_000;

/** Before a token: whether the job is still of its lease. */
const held = "state = 'running' AND lease_token =";

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
    `SELECT j.project_id AS projectId, m.user_id AS userId, j.memory_seq AS seq, m.id AS memoryId,
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
  const advance = writes.prepare(
    `UPDATE jobs SET state = iif(?2 = ?3, 'complete', 'running'),
       run_at = iif(?2 = ?3, NULL, run_at), chunks_complete = ?2, chunks_total = ?3,
       error_message = NULL, updated_at = ?4
     WHERE project_id = ?5 AND memory_seq = ?6 AND ${held} ?7 AND chunks_complete = ?1`,
  );
  const startOver = writes.prepare(
    `UPDATE jobs SET chunks_complete = 0
     WHERE project_id = ? AND memory_seq = ? AND ${held} ?`,
  );
  const fail = writes.prepare(
    `UPDATE jobs SET state = ?, run_at = ?, error_message = ?, updated_at = ?
     WHERE project_id = ? AND memory_seq = ? AND ${held} ?`,
  );
  const release = writes.prepare(
    `UPDATE jobs SET state = 'waiting', attempts = attempts - 1
     WHERE project_id = ? AND memory_seq = ? AND ${held} ?`,
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
    return readDue(which).map(({ attempts, ...job }) => {
      claim.run(job.projectId, job.seq);
      return { ...job, attempt: attempts + 1 };
    });
  }

  /** False without the lease, and where something else is stored than what comes before. */
  function follow({ now, first, passages, total, projectId, seq, leaseToken }: PassageStep) {
    const end = first + passages.length;
    return advance.run(first, end, total, now, projectId, seq, leaseToken).changes > 0;
  }

  function storeStep(step: PassageStep): boolean {
    const { first, passages, projectId, seq, leaseToken } = step;
    if (!follow(step)) {
      // An earlier attempt may have got somewhere.
      if (first > 0 || startOver.run(projectId, seq, leaseToken).changes === 0) return false;
      passagesOf.remove(step);
      follow(step);
    }
    passagesOf.insert(step, first, passages);
    return true;
  }

  return {
    getStatus: async (projectId, id) => status(projectId, id),
    claimJobs: (claim) => write(() => claimDue(claim)),
    storePassages: (steps) => write((turn) => mapInTurns(steps, storeStep, turn)),
    failJob: ({ now, retryAt, errorMessage, projectId, seq, leaseToken }) =>
      write(() => {
        const then = retryAt === null ? 'failed' : 'waiting';
        const of = [projectId, seq, leaseToken];
        return fail.run(then, retryAt, errorMessage, now, ...of).changes > 0;
      }),
    releaseJob: ({ projectId, seq, leaseToken }) =>
      write(() => release.run(projectId, seq, leaseToken).changes > 0),
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
