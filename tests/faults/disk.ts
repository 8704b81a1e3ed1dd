import { send } from './api.ts';
import { type Figures, type Harness, type Run, skipIf } from './harness.ts';
import { createScript } from './script.ts';
import { type DiskCall, straceMissing, tampering } from './strace.ts';
import { createTarget, startsUp, type Target } from './target.ts';

type Tampering = { call: DiskCall; what: string };

/**
 * The ordinal numbers of the calls that fail. Each number is tested in separate runs, in which only
 * that call fails or all later calls fail as well.
 */
const points = {
  quick: { fsync: [4, 13], fdatasync: [3, 6], pwrite64: [80, 95] },
  full: { fsync: range(1, 45, 2), fdatasync: range(1, 45, 2), pwrite64: range(1, 220, 7) },
};
const scriptLength = 15;

export const disk: Harness = {
  id: 'P4',
  promise:
    'A disk error or a full disk neither causes a false 2xx response nor damages stored data',
  proof:
    'strace makes the k-th fsync, fdatasync or pwrite64, alone or with all later ones, fail with ' +
    'EIO or ENOSPC; the server is killed and restarted without injected errors, and the stored ' +
    'memories are compared with the acknowledged writes',
  control: { without: 'checking the result of COMMIT', variants: ['commit-error-swallowed'] },
  run,
};

const noCounts = {
  faultPoints: 0,
  duringStartup: 0,
  acknowledged: 0,
  failedAttempts: 0,
  failedReads: 0,
};

async function run(run: Run): Promise<Figures> {
  const { tier, variants, violations } = run;
  skipIf(straceMissing());
  const counts = { ...noCounts };
  const met: Record<DiskCall, number> = { fsync: 0, fdatasync: 0, pwrite64: 0 };
  for (const tampered of everyTampering(points[tier])) {
    met[tampered.call] += await meetErrors(run, tampered, counts);
  }
  // A control may hide every error, so only runs of the unchanged service are checked.
  const affected = { sync: met.fsync + met.fdatasync, pwrite64: met.pwrite64 };
  for (const [call, errors] of Object.entries(variants.length > 0 ? {} : affected)) {
    if (errors === 0) violations.add(`no error injected into ${call} made a write fail`);
  }
  return counts;
}

function everyTampering(at: Record<DiskCall, number[]>): Tampering[] {
  const all: Tampering[] = [];
  for (const call of ['fsync', 'fdatasync', 'pwrite64'] as const) {
    for (const k of at[call]) {
      for (const error of ['EIO', 'ENOSPC']) {
        const what = `error=${error}:when=${k}`;
        all.push({ call, what }, { call, what: `${what}+` });
      }
    }
  }
  return all;
}

/** Runs the script with one kind of injected error. Returns how many write attempts failed. */
async function meetErrors(
  { variants, random, violations }: Run,
  { call, what }: Tampering,
  counts: typeof noCounts,
): Promise<number> {
  const about = `${call} ${what}`;
  await using target = createTarget({ variants });
  const script = createScript(random, scriptLength, { reads: call !== 'fsync' });
  if (await startsUp(target, tampering([call], what))) {
    const finished = await script.play(target);
    if (!finished && !target.running())
      violations.add(`${about}: the server exited: ${target.log().slice(-300)}`);
    if (target.running() && !(await canRead(target))) counts.failedReads += 1;
  } else counts.duringStartup += 1;
  await target.kill();
  await target.start();
  await script.settle(target, violations, about);
  counts.faultPoints += 1;
  counts.acknowledged += script.ledger.counts.acknowledged;
  counts.failedAttempts += script.ledger.counts.unknownOutcomes;
  return script.ledger.counts.unknownOutcomes;
}

async function canRead(target: Target): Promise<boolean> {
  const reply = await send(target, { method: 'GET', path: '/v1/memories?userId=script' });
  return reply?.status === 200;
}

function range(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step);
}
