import type { Database } from 'bun:sqlite';
import { limits } from '../../../sdk/contract/limits.ts';
import { ServiceError } from '../../errors.ts';

/** Throws `rate_limited` where so many more records of the project may not wait. */
export type Room = (projectId: number, wanted: number) => void;

/** How long until a full queue is worth another try. */
const retryAfterSeconds = 10;

/** A full queue is counted no more often than this: everybody waits for the count. */
const countEveryMs = 500;

/**
 * Refuses records over the limit on what waits. Counting for each request would cost more the
 * longer the queue is; between two counts what was accepted since is an upper bound.
 */
export function createRoom(db: Database): Room {
  const count = db.prepare<{ n: number }, [number]>(
    `SELECT count(*) AS n FROM jobs INDEXED BY jobs_pending
     WHERE project_id = ? AND run_at IS NOT NULL`,
  );
  const left = new Map<number, { room: number; countedAt: number }>();
  return (projectId, wanted) => {
    const now = performance.now();
    let { room, countedAt } = left.get(projectId) ?? { room: 0, countedAt: -Infinity };
    if (room < wanted && now - countedAt >= countEveryMs) {
      room = limits.pendingRecords - (count.get(projectId)?.n ?? 0);
      countedAt = now;
    }
    left.set(projectId, { room: room < wanted ? room : room - wanted, countedAt });
    if (room < wanted) throw queueFull();
  };
}

function queueFull(): ServiceError {
  return new ServiceError(
    'rate_limited',
    `more than ${limits.pendingRecords} records would wait to be processed; try again later`,
    { retryAfterSeconds },
  );
}
