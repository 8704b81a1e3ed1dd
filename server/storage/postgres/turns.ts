import type { Engine, WriteOperation } from '../engine.ts';
import { maintain } from '../operations/maintenance.ts';
import { nextUnstored } from '../operations/snapshots.ts';
import type { Storage } from '../storage.ts';

/** How long a turn lasts, which is longer than the interval between two runs of the cleanup. */
const turnMs = 90_000;
const nothingDone = { expiredMemories: 0, expiredKeys: 0, more: false };

const now = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)';

const claimTurn: WriteOperation<string, boolean> = {
  async run(tx, holder) {
    const claimed = await tx.run(
      `INSERT INTO turns AS t (name, holder, held_until) VALUES ('cleanup', $1, ${now} + ${turnMs})
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
       WHERE t.holder = excluded.holder OR t.held_until < ${now}`,
      [holder],
    );
    return claimed > 0;
  },
};

const endTurn: WriteOperation<string, number> = {
  run: (tx, holder) => tx.run(`DELETE FROM turns WHERE name = 'cleanup' AND holder = $1`, [holder]),
};

/**
 * The periodic cleanup, which one server runs at a time. Only that server advances the uptime: if
 * the uptimes of all servers were added up, idempotency keys would be deleted too early.
 */
export async function createCleanup(engine: Pick<Engine, 'read' | 'write'>) {
  const holder = crypto.randomUUID();
  // Claim the turn at the start, so that admin commands can detect the running server. Ignore
  // errors, because a server must be able to start and serve reads if the disk is full.
  await engine.write(claimTurn, holder).catch(() => {});
  return {
    maintain: (async (run) =>
      (await engine.write(claimTurn, holder))
        ? engine.write(maintain, run)
        : nothingDone) satisfies Storage['maintain'],
    nextUnstored: (async (sweep) =>
      (await engine.write(claimTurn, holder))
        ? engine.read(nextUnstored, sweep)
        : null) satisfies Storage['nextUnstored'],
    /** Ends this server's turn, so that another server can run the cleanup at once. */
    release: () => engine.write(endTurn, holder),
  };
}
