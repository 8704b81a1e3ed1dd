import { limits } from '../../../sdk/contract/limits.ts';
import type { ShortRead, WriteOperation } from '../engine.ts';
import { removeExpired } from './erasure.ts';
import { sweepKeys } from './idempotency.ts';

const expiredPerRun = 200;
const keysPerRun = 1_000;

type Report = {
  expiredMemories: number;
  expiredKeys: number;
  /** Whether to call `maintain` again immediately. */
  more: boolean;
};

/**
 * Runs one bounded step of the periodic cleanup, which deletes expired memories and old idempotency
 * keys. `elapsedMs` is the time since the last call, measured by a monotonic clock. A key is
 * deleted only if it is old by both the wall clock and the sum of these times, the uptime, so a
 * jump of the wall clock cannot delete a key early.
 *
 * A step counts as a small write, although it deletes many rows: as a large one it would take turns
 * with imports, and expired memories would not be erased in time.
 */
export const maintain: WriteOperation<{ now: number; elapsedMs: number }, Report> = {
  isLong: true,
  async run(tx, { now, elapsedMs }) {
    // After a crash, the uptime is slightly too low, so some data is kept a little longer.
    const row = await tx.one<{ uptime: number }>(
      `UPDATE maintenance SET value = value + CAST($1 AS bigint) WHERE name = 'uptime'
       RETURNING value AS uptime`,
      [Math.round(elapsedMs)],
    );
    const expired = await removeExpired(tx, { now, limit: expiredPerRun });
    const expiredKeys = await sweepKeys(tx, {
      now,
      uptime: row?.uptime ?? 0,
      keptMs: limits.idempotencyKeptMs,
      limit: keysPerRun,
    });
    const more = expired.more || expiredKeys > 0;
    return { expiredMemories: expired.removed, expiredKeys, more };
  },
};

export const lastBackupAt: ShortRead<void, number | null> = {
  async run(tx) {
    const row = await tx.one<{ at: number }>(
      `SELECT value AS at FROM maintenance WHERE name = 'last_backup'`,
    );
    return row?.at ?? null;
  },
};
