import { copyFileSync, lstatSync } from 'node:fs';
import type { Random } from '../support/random.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { acts, bringBack, isLossless } from './moved-acts.ts';
import { waitForDetection } from './moved-detection.ts';
import { createTarget, type Target } from './target.ts';
import { countLost, type Save, saveOnce, startSaves } from './traffic/saves.ts';

const cycles = { quick: 1, full: 12 };
const clients = 8;
const loadedMs = { from: 150, to: 900 };
const exitWithinMs = 12_000;
/**
 * The number of memories that are saved before the database is copied. The copy later replaces the
 * database.
 */
const firstSaves = 20;

export const moved: Harness = {
  id: 'P25',
  promise:
    'When the database file of a running server is moved, removed or replaced, writes are ' +
    'rejected with 503; no acknowledged write is lost if the moved file is moved back',
  proof:
    `at a random moment under load from ${clients} clients, the file is moved, removed or ` +
    `replaced (${acts.map(({ name }) => name).join(', ')}); the server must detect the fault ` +
    'within one second, report it in /health, and then reject every write with 503 and ' +
    'Retry-After; after SIGTERM or SIGKILL, a server that is started through a link must serve all ' +
    'acknowledged saves or refuse to start; a moved file is then moved back, and the stored ' +
    'memories are compared with the acknowledged saves',
  control: {
    without: 'the comparison of device and inode numbers',
    variants: ['no-file-check'],
  },
  run,
};

type Counts = typeof noCounts;
const noCounts = {
  cycles: 0,
  acknowledged: 0,
  acknowledgedAfterFault: 0,
  acknowledgedAfterDetection: 0,
  lost: 0,
};

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  const counts = { ...noCounts };
  const detectedMs: number[] = [];
  for (let cycle = 0; cycle < cycles[tier]; cycle += 1) {
    for (const act of acts) {
      await using target = createTarget({ variants });
      const detected = await runCycle({ target, act, random, violations, counts });
      if (detected !== null) detectedMs.push(detected);
      counts.cycles += 1;
    }
  }
  const slowestDetectionMs =
    detectedMs.length === 0 ? 'never' : Math.round(Math.max(...detectedMs));
  return { ...counts, detected: detectedMs.length, slowestDetectionMs };
}

type Cycle = {
  target: Target;
  act: (typeof acts)[number];
  random: Random;
  violations: Violations;
  counts: Counts;
};

/** Returns the time to detection in ms, or null if the fault was never detected. */
async function runCycle({
  target,
  act,
  random,
  violations,
  counts,
}: Cycle): Promise<number | null> {
  const other = `${target.path}.other`;
  const before = await prepare(target, other);
  await target.start();
  const saves = startSaves(target, { clients });
  await Bun.sleep(random.between(loadedMs.from, loadedMs.to));
  act.do(target.path, other);
  const actedAt = performance.now();
  const detectedAt = await waitForDetection(target, saves.all, actedAt, act.name, violations);
  const all = [...before, ...(await saves.stop())];
  const late = all.filter(({ id, sentAt }) => id !== null && sentAt > (detectedAt ?? Infinity));
  if (late.length > 0)
    violations.add(`${act.name}: ${late.length} saves were acknowledged after detection`);
  counts.acknowledged += all.filter(({ id }) => id !== null).length;
  counts.acknowledgedAfterFault += all.filter(({ id, sentAt }) => id && sentAt > actedAt).length;
  counts.acknowledgedAfterDetection += late.length;
  if (!target.running())
    violations.add(`${act.name}: the server exited: ${target.log().slice(-200)}`);
  if (random.chance(0.5) && !(await stopsInTime(target)))
    violations.add(`${act.name}: the server did not exit after SIGTERM`);
  await target.kill();
  if (isLossless(act)) counts.lost += await recover({ target, act, violations }, all);
  return detectedAt === null ? null : detectedAt - actedAt;
}

/** Creates a database with a few memories, and copies it to `other`. */
async function prepare(target: Target, other: string): Promise<Save[]> {
  await target.start();
  const saves: Save[] = [];
  for (let count = 0; count < firstSaves; count += 1) {
    saves.push(await saveOnce(target, `first ${count}`));
  }
  await target.stop();
  copyFileSync(target.path, other);
  return saves;
}

async function stopsInTime(target: Target): Promise<boolean> {
  const stopped = target.stop().then(() => true);
  return Promise.race([stopped, Bun.sleep(exitWithinMs).then(() => false)]);
}

type Recovery = Pick<Cycle, 'target' | 'act' | 'violations'>;

/** Moves the file back and returns how many acknowledged saves are missing. */
async function recover(recovery: Recovery, saves: Save[]): Promise<number> {
  const { target, act, violations } = recovery;
  const found = lstatSync(target.path, { throwIfNoEntry: false });
  if (found?.isFile()) violations.add(`${act.name}: the server created a new database file`);
  if (found?.isSymbolicLink()) {
    const lost = await countLostBehindLink(recovery, saves);
    if (lost > 0) return lost;
  }
  bringBack(target.path);
  try {
    await target.start();
  } catch (error) {
    violations.add(
      `${act.name}: the server does not start after the file has been moved back: ` +
        `${String(error).slice(0, 300)}`,
    );
    return saves.length;
  }
  return countLost(target, saves, violations, act.name);
}

/** Starts the server through the link. Returns 0 if the server refuses to start. */
async function countLostBehindLink({ target, act, violations }: Recovery, saves: Save[]) {
  try {
    await target.start();
  } catch (error) {
    if (!/ is a link to /.test(target.log() + String(error)))
      violations.add(`${act.name}: no reason for the failed start: ${String(error).slice(0, 300)}`);
    return 0;
  }
  const lost = await countLost(target, saves, violations, `${act.name}, started through the link`);
  await target.stop();
  return lost;
}
