import type { Database } from 'bun:sqlite';
import { limits } from '../../../../sdk/contract/limits.ts';
import { queueFull } from '../../refusals.ts';

/** Throws `rate_limited` if `added` more tasks would exceed the project's limit. */
export type QueueLimit = (projectId: number, added: number) => void;

/** The minimum time between two counts. A slow count is followed by a longer pause. */
const countEveryMs = 500;
const costShare = 0.05;

/**
 * The queue is at most as long as the last count plus the number of tasks accepted since then, so
 * it is counted again only if this sum exceeds the limit.
 */
export function createQueueLimit(db: Database): QueueLimit {
  const count = db.prepare<{ projectId: number; n: number }, []>(
    `SELECT project_id AS projectId, count(*) AS n FROM tasks INDEXED BY tasks_pending
     WHERE run_at IS NOT NULL GROUP BY project_id`,
  );
  let pending: Map<number, number> | null = null;
  let countAgainAt = 0;

  function recount(): Map<number, number> {
    const begun = performance.now();
    const counted = new Map(count.all().map(({ projectId, n }) => [projectId, n]));
    const ended = performance.now();
    countAgainAt = ended + Math.max(countEveryMs, (ended - begun) / costShare);
    return counted;
  }

  return (projectId, added) => {
    const then = () => (pending?.get(projectId) ?? 0) + added;
    pending ??= recount();
    // mutate-ignore operand: counts more often
    if (then() > limits.pendingRecords && performance.now() >= countAgainAt) pending = recount();
    if (then() > limits.pendingRecords) throw queueFull();
    pending.set(projectId, then());
  };
}
