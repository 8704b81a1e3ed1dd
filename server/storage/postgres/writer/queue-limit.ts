import { limits } from '../../../../sdk/contract/limits.ts';
import type { Connection } from '../connection.ts';
import { query } from '../statement.ts';

/**
 * Whether `added` more tasks would exceed the project's limit. A server's count does not include
 * tasks that other servers have accepted since the last count.
 */
export type QueueLimit = (projectId: number, added: number) => Promise<boolean>;

/** The minimum time between two counts. A slow count is followed by a longer pause. */
const countEveryMs = 500;
const costShare = 0.05;

const count = `SELECT project_id::float8 AS "projectId", count(*)::float8 AS n FROM tasks
  WHERE run_at IS NOT NULL GROUP BY project_id`;

export function createQueueLimit(connection: Connection): QueueLimit {
  let pending = new Map<number, number>();
  let counting: Promise<void> | null = null;
  let countAgainAt = 0;

  async function recount(): Promise<void> {
    const begun = performance.now();
    const rows = await query<{ projectId: number; n: number }>(connection.run, count);
    const ended = performance.now();
    pending = new Map(rows.map(({ projectId, n }) => [projectId, n]));
    countAgainAt = ended + Math.max(countEveryMs, (ended - begun) / costShare);
  }

  /** Concurrent callers share one count. */
  function countAgain(): Promise<void> {
    counting ??= recount().finally(() => {
      counting = null;
    });
    return counting;
  }

  return async (projectId, added) => {
    const then = () => (pending.get(projectId) ?? 0) + added;
    const isStale = () => performance.now() >= countAgainAt;
    // Near the limit, a recent count is needed, because other servers may have accepted tasks.
    if (isStale() && (countAgainAt === 0 || then() > limits.pendingRecords / 2)) await countAgain();
    if (then() > limits.pendingRecords) return true;
    pending.set(projectId, then());
    return false;
  };
}
