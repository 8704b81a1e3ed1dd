import type { Database } from 'bun:sqlite';
import { limits } from '../../../sdk/contract/limits.ts';
import { ServiceError } from '../../errors.ts';

/** Throws `rate_limited` where so many more records of the project may not wait. */
export type Room = (projectId: number, wanted: number) => void;

/** How long until a full queue is worth another try. */
const retryAfterSeconds = 10;

/** Counting takes the longer the more waits, everywhere, and everybody waits for it: at most this
 * often, and at most this share of the time. */
const countEveryMs = 500;
const costShare = 0.05;

/**
 * Refuses records over the limit on what waits. Between two counts what was counted and accepted
 * since is an upper bound; the queue is counted again only where that leaves no room.
 */
export function createRoom(db: Database): Room {
  const count = db.prepare<{ projectId: number; n: number }, []>(
    `SELECT project_id AS projectId, count(*) AS n FROM jobs INDEXED BY jobs_pending
     WHERE run_at IS NOT NULL GROUP BY project_id`,
  );
  let waiting: Map<number, number> | null = null;
  let countAgainAt = 0;

  function recount(): Map<number, number> {
    const begun = performance.now();
    const counted = new Map(count.all().map(({ projectId, n }) => [projectId, n]));
    const ended = performance.now();
    countAgainAt = ended + Math.max(countEveryMs, (ended - begun) / costShare);
    return counted;
  }

  return (projectId, wanted) => {
    const then = () => (waiting?.get(projectId) ?? 0) + wanted;
    waiting ??= recount();
    if (then() > limits.pendingRecords && performance.now() >= countAgainAt) waiting = recount();
    if (then() > limits.pendingRecords) throw queueFull();
    waiting.set(projectId, then());
  };
}

function queueFull(): ServiceError {
  return new ServiceError(
    'rate_limited',
    `more than ${limits.pendingRecords} records would wait to be processed; try again later`,
    { retryAfterSeconds },
  );
}
