import { join } from 'node:path';
import { listAll } from './api.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import type { Ledger, Owed } from './ledger.ts';
import { startLoad } from './load.ts';
import { createTarget, type Target } from './target.ts';

const backups = { quick: 2, full: 20 };
const clients = 4;
const cli = join(import.meta.dir, '../../cli/main.ts');

export const backupsUnderLoad: Harness = {
  id: 'P17',
  promise: 'A backup taken under load contains every memory acknowledged before the backup began',
  proof:
    `${clients} clients write while "memory backup" runs in a separate process; each backup is ` +
    'restored with "memory restore" and served; every memory that was acknowledged before the ' +
    'backup and not deleted since must be listed',
  control: null,
  run,
};

async function run({ tier, variants, random, violations, folder }: Run): Promise<Figures> {
  await using target = createTarget({ variants });
  const figures = { backups: backups[tier], compared: 0, missing: 0, slowestBackupMs: 0 };
  await target.start();
  const load = startLoad({ target, violations, random, clients, pauseMs: 2 });
  for (let n = 0; n < backups[tier]; n += 1) {
    await Bun.sleep(random.between(100, 400));
    const owed = snapshot(load.ledger);
    const begun = performance.now();
    const file = join(folder, `backup-${n}.db`);
    memory('backup', file, '--database', `sqlite:${target.path}`);
    const tookMs = Math.round(performance.now() - begun);
    figures.slowestBackupMs = Math.max(figures.slowestBackupMs, tookMs);
    figures.compared += owed.size;
    figures.missing += await compareRestored(file, { owed, ledger: load.ledger, violations });
  }
  await load.stop();
  return { ...figures, ...load.ledger.counts };
}

function snapshot(ledger: Ledger): Map<string, Owed> {
  return new Map(
    ledger.ids().flatMap((id): [string, Owed][] => {
      const owed = ledger.owed(id);
      return owed === undefined ? [] : [[id, owed]];
    }),
  );
}

function memory(...args: string[]): void {
  const child = Bun.spawnSync([process.execPath, cli, ...args]);
  if (child.exitCode !== 0) throw new Error(`memory ${args[0]}: ${child.stderr.toString()}`);
}

type Expected = { owed: Map<string, Owed>; ledger: Ledger; violations: Violations };

/** Restores the backup and starts a server on it. Returns how many memories are missing. */
async function compareRestored(file: string, expected: Expected): Promise<number> {
  await using restored = createTarget();
  memory('restore', file, '--database', `sqlite:${restored.path}`);
  await restored.start();
  return await countMissing(restored, expected);
}

async function countMissing(restored: Target, { owed, ledger, violations }: Expected) {
  const users = new Set([...owed.values()].map(({ userId }) => userId));
  const found = new Set<string>();
  for (const userId of users) {
    for (const { id } of await listAll(restored, userId)) found.add(id);
  }
  let missing = 0;
  for (const id of owed.keys()) {
    // A memory that was deleted after the snapshot may be missing from the backup.
    if (found.has(id) || ledger.owed(id) === undefined) continue;
    missing += 1;
    violations.add(`missing from the backup: ${id}`);
  }
  return missing;
}
