import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom, type Random } from '../support/random.ts';
import { drained } from './api.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { createLedger } from './ledger.ts';
import { startLoad } from './load.ts';
import { mountImage, sh } from './mounts.ts';
import { createTarget } from './target.ts';

type Cycles = { quick: number; full: number; control: number };

const imageBytes = 256 * 1024 * 1024;
const cutAfterMs = { from: 200, to: 1_200 };

const proof = (clients: string) =>
  `the server runs on a loop-mounted ext4 file system under load from ${clients}; ` +
  'EXT4_IOC_SHUTDOWN without a log flush simulates a power loss; after a remount and a restart, ' +
  'the stored memories are compared with the acknowledged writes';

export const power: Harness = {
  id: 'P2',
  promise: 'An acknowledged write (2xx) survives a power loss',
  proof: proof('8 concurrent clients'),
  control: { without: 'the sync in COMMIT (synchronous=NORMAL)', variants: ['no-sync'] },
  run: (options) => run(options, 8, { quick: 3, full: 60, control: 8 }),
};

/** With several clients, the sync of the next group commit could hide a missing sync. */
export const powerAlone: Harness = {
  id: 'P22',
  promise: 'An acknowledged write (2xx) survives a power loss when only one client writes',
  proof: proof('a single client'),
  control: { without: 'the sync in COMMIT (synchronous=NORMAL)', variants: ['no-sync'] },
  run: (options) => run(options, 1, { quick: 3, full: 30, control: 20 }),
};

async function run(
  { seed, tier, variants }: RunOptions,
  clients: number,
  cycles: Cycles,
): Promise<Finding> {
  const work = mkdtempSync(join(tmpdir(), 'memory-power-'));
  let equipment: { cut: string; image: string };
  try {
    equipment = prepare(work);
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    const reason = error instanceof Error ? error.message : String(error);
    return {
      figures: {},
      violations: [],
      skipped: `cannot mount an ext4 image and shut it down: ${reason}`,
    };
  }
  try {
    return await cutRepeatedly({
      seed,
      cycles: cycles[variants.length > 0 ? 'control' : tier],
      clients,
      variants,
      ...equipment,
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Compiles power-loss.c and runs it once on a mounted image. Throws if either fails. */
function prepare(work: string) {
  const cut = join(work, 'power-loss');
  const image = join(work, 'disk.img');
  sh('gcc', '-o', cut, join(import.meta.dir, 'power-loss.c'));
  sh('truncate', '-s', String(imageBytes), image);
  sh('mkfs.ext4', '-q', image);
  const mount = mountImage(image);
  try {
    sh(cut, mount.folder);
  } finally {
    mount.unmount();
  }
  return { cut, image };
}

async function cutRepeatedly(options: {
  seed: number;
  cycles: number;
  clients: number;
  variants: string[];
  cut: string;
  image: string;
}): Promise<Finding> {
  const violations = createViolations();
  const random = createRandom(options.seed);
  const totals = { cycles: options.cycles, acknowledged: 0, lost: 0, altered: 0, duplicated: 0 };
  for (let cycle = 0; cycle < options.cycles; cycle += 1) {
    const { acknowledged, found } = await cutOnce({ ...options, random, violations });
    totals.acknowledged += acknowledged;
    totals.lost += found.lost + found.undeleted;
    totals.altered += found.altered;
    totals.duplicated += found.duplicated;
  }
  return { figures: totals, violations: violations.list() };
}

async function cutOnce(options: {
  clients: number;
  variants: string[];
  cut: string;
  image: string;
  random: Random;
  violations: Violations;
}) {
  const { clients, cut, image, random, violations } = options;
  const ledger = createLedger();
  const mount = mountImage(image);
  const target = createTarget({ variants: options.variants, folder: mount.folder });
  try {
    await target.start();
    const load = startLoad({ target, ledger, violations, random, clients });
    await Bun.sleep(random.between(cutAfterMs.from, cutAfterMs.to));
    // A real power loss stops the process as well. Without SIGSTOP, an fsync that succeeds while
    // ext4 shuts down could still lead to a response.
    target.signal('SIGSTOP');
    sh(cut, mount.folder);
    await target.kill();
    mount.remount();
    await target.start();
    await load.stop();
    await drained(target, 20_000);
    const found = await ledger.compare(target, violations);
    return { acknowledged: ledger.counts.acknowledged, found };
  } finally {
    await target.remove();
    mount.unmount();
    sh('mkfs.ext4', '-q', '-F', image);
  }
}
