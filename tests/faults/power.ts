import { join } from 'node:path';
import { type Figures, type Harness, type Run, Skipped } from './harness.ts';
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

async function run(run: Run, clients: number, cycles: Cycles): Promise<Figures> {
  const { tier, variants, folder } = run;
  const count = cycles[variants.length > 0 ? 'control' : tier];
  const equipment = prepare(folder);
  const totals = { cycles: count, acknowledged: 0, lost: 0, altered: 0, duplicated: 0 };
  for (let cycle = 0; cycle < count; cycle += 1) {
    const found = await cutOnce(run, clients, equipment);
    totals.acknowledged += found.acknowledged;
    totals.lost += found.lost + found.undeleted;
    totals.altered += found.altered;
    totals.duplicated += found.duplicated;
  }
  return totals;
}

type Equipment = { cut: string; image: string };

/** Compiles power-loss.c and runs it once on a mounted image. */
function prepare(folder: string): Equipment {
  const cut = join(folder, 'power-loss');
  const image = join(folder, 'disk.img');
  try {
    sh('gcc', '-o', cut, join(import.meta.dir, 'power-loss.c'));
    sh('truncate', '-s', String(imageBytes), image);
    sh('mkfs.ext4', '-q', image);
    const mount = mountImage(image);
    try {
      sh(cut, mount.folder);
    } finally {
      mount.unmount();
    }
  } catch (error) {
    throw new Skipped(`cannot mount an ext4 image and shut it down: ${error}`);
  }
  return { cut, image };
}

async function cutOnce({ variants, random, violations }: Run, clients: number, disk: Equipment) {
  const { cut, image } = disk;
  const mount = mountImage(image);
  try {
    await using target = createTarget({ variants, folder: mount.folder });
    await target.start();
    const load = startLoad({ target, violations, random, clients });
    await Bun.sleep(random.between(cutAfterMs.from, cutAfterMs.to));
    // A real power loss stops the process as well. Without SIGSTOP, an fsync that succeeds while
    // ext4 shuts down could still lead to a response.
    target.signal('SIGSTOP');
    sh(cut, mount.folder);
    await target.kill();
    mount.remount();
    await target.start();
    return await load.settle(20_000);
  } finally {
    mount.unmount();
    sh('mkfs.ext4', '-q', '-F', image);
  }
}
