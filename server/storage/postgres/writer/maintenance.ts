import { limits } from '../../../../sdk/contract/limits.ts';
import type { MaintenanceReport } from '../../maintenance-storage.ts';
import type { Storage } from '../../storage.ts';
import type { Connection } from '../connection.ts';
import { query } from '../statement.ts';
import type { Work } from '../transaction.ts';
import { sweepKeys } from './idempotency.ts';
import { removeExpired } from './removal.ts';

/**
 * The periodic cleanup, which one server runs at a time, and the service's uptime on this database,
 * which only that server advances.
 */
export type Maintenance = {
  /** The last known uptime in ms, at most one maintenance interval old. */
  uptime(): number;
  maintain: Storage['maintain'];
  /** Ends this server's turn, so that another server can run the cleanup immediately. */
  release(): Promise<void>;
};

const expiredPerRun = 200;
const keysPerRun = 1_000;
/** How long a turn lasts, which is longer than the interval between two runs. */
const turnSeconds = 90;

export async function createMaintenance(
  connection: Connection,
  transact: <T>(work: Work<T>) => Promise<T>,
  isDistributed: boolean,
): Promise<Maintenance> {
  const owner = crypto.randomUUID();
  let uptime = await addUptime(0);

  async function addUptime(elapsedMs: number): Promise<number> {
    const [row] = await query<{ value: number }>(
      connection.run,
      elapsedMs === 0
        ? `SELECT value::float8 AS value FROM maintenance WHERE name = 'uptime'`
        : `UPDATE maintenance SET value = value + $1::int8 WHERE name = 'uptime'
           RETURNING value::float8 AS value`,
      ...(elapsedMs === 0 ? [] : [elapsedMs]),
    );
    return row?.value ?? 0;
  }

  async function takeTurn(): Promise<boolean> {
    const rows = await query(
      connection.run,
      `UPDATE maintenance SET holder = $1,
         held_until = clock_timestamp() + make_interval(secs => ${turnSeconds})
       WHERE name = 'turn'
         AND (holder = $1 OR held_until IS NULL OR held_until < clock_timestamp())
       RETURNING 1 AS one`,
      owner,
    );
    return rows.length > 0;
  }

  // Take a turn at the start, so that admin commands can detect the running server. Ignore errors,
  // because a server must be able to start and serve reads if the disk is full.
  await takeTurn().catch(() => {});

  return {
    uptime: () => uptime,
    async maintain({ now, elapsedMs }): Promise<MaintenanceReport> {
      const isOurs = await takeTurn();
      uptime = await addUptime(isOurs ? Math.max(0, Math.round(elapsedMs)) : 0);
      if (!isOurs) return { expiredMemories: 0, expiredKeys: 0, more: false };
      const expiredMemories = await transact(removeExpired(now, expiredPerRun));
      const keptMs = limits.idempotencyKeptMs;
      const before = { createdAt: now - keptMs, uptime: uptime - keptMs };
      const [swept = []] = await connection.run([
        sweepKeys(before, { limit: keysPerRun, isDistributed }),
      ]);
      const more = expiredMemories === expiredPerRun || swept.length > 0;
      return { expiredMemories, expiredKeys: swept.length, more };
    },
    async release() {
      await query(
        connection.run,
        `UPDATE maintenance SET holder = NULL, held_until = NULL
         WHERE name = 'turn' AND holder = $1`,
        owner,
      );
    },
  };
}
