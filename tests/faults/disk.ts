import { send } from './api.ts';
import { type Figures, type Harness, type Run, skipIf } from './harness.ts';
import { createScript } from './script.ts';
import { type DiskCall, straceMissing, tampering } from './strace.ts';
import { createTarget, startsUp, type Target } from './target.ts';

const calls = ['fsync', 'fdatasync', 'pwrite64'] as const;
const scriptLength = 15;

export const steps: Harness = {
  id: 'P3',
  promise: 'An acknowledged write (2xx) survives a crash of the server at any I/O step',
  proof:
    'strace kills the server at its k-th fsync, fdatasync or pwrite64 while the server creates a ' +
    `database and executes a script of ${scriptLength} writes; k increases until the script ` +
    'completes; after each restart, the stored memories are compared with the acknowledged writes',
  control: { without: 'waiting for COMMIT before responding', variants: ['answer-early'] },
  run: crashAtSteps,
};

/** The occurrences of each system call at which the process is killed. */
const crashPoints = {
  quick: { fsync: [2, 4], fdatasync: [2, 9, 13, 19], pwrite64: [20, 80, 101, 140] },
  full: { fsync: range(1, 81), fdatasync: range(1, 81), pwrite64: range(1, 1_501) },
};

async function crashAtSteps(run: Run): Promise<Figures> {
  skipIf(straceMissing());
  const counts = { crashPoints: 0, duringStartup: 0, acknowledged: 0, completedScripts: 0 };
  for (const call of calls) {
    for (const k of crashPoints[run.tier][call]) {
      const { isUp, isFinished, acknowledged } = await play(run, call, `signal=KILL:when=${k}`);
      counts.crashPoints += 1;
      counts.acknowledged += acknowledged;
      if (!isUp) counts.duringStartup += 1;
      if (!isFinished) continue;
      counts.completedScripts += 1;
      break;
    }
  }
  if (run.tier === 'full' && counts.completedScripts < 3) {
    run.violations.add('the script makes more system calls than the harness tests');
  }
  return counts;
}

export const disk: Harness = {
  id: 'P4',
  promise:
    'A disk error or a full disk neither causes a false 2xx response nor damages stored data',
  proof:
    'strace makes the k-th fsync, fdatasync or pwrite64, alone or with all later ones, fail with ' +
    'EIO or ENOSPC; the server is killed and restarted without injected errors, and the stored ' +
    'memories are compared with the acknowledged writes',
  control: { without: 'checking the result of COMMIT', variants: ['commit-error-swallowed'] },
  run: meetErrors,
};

/**
 * The ordinal numbers of the calls that fail. Each number is tested in separate runs, in which only
 * that call fails or all later calls fail as well.
 */
const errorPoints = {
  quick: { fsync: [4, 13], fdatasync: [3, 6], pwrite64: [80, 95] },
  full: { fsync: range(1, 45, 2), fdatasync: range(1, 45, 2), pwrite64: range(1, 220, 7) },
};

async function meetErrors(run: Run): Promise<Figures> {
  skipIf(straceMissing());
  const counts = {
    ...{ faultPoints: 0, duringStartup: 0, acknowledged: 0, failedAttempts: 0 },
    failedReads: 0,
  };
  const failed = { fsync: 0, fdatasync: 0, pwrite64: 0 };
  async function look(target: Target, about: string, isFinished: boolean): Promise<void> {
    if (target.running()) counts.failedReads += (await canRead(target)) ? 0 : 1;
    else if (!isFinished)
      run.violations.add(`${about}: the server exited: ${target.log().slice(-300)}`);
  }
  for (const call of calls) {
    const ks = errorPoints[run.tier][call];
    const errors = ks.flatMap((k) => ['EIO', 'ENOSPC'].map((error) => `error=${error}:when=${k}`));
    for (const what of errors.flatMap((error) => [error, `${error}+`])) {
      const { isUp, acknowledged, unknownOutcomes } = await play(run, call, what, look);
      counts.faultPoints += 1;
      counts.acknowledged += acknowledged;
      counts.failedAttempts += unknownOutcomes;
      failed[call] += unknownOutcomes;
      if (!isUp) counts.duringStartup += 1;
    }
  }
  // A control may hide every error, so only runs of the unchanged service are checked.
  const affected = { sync: failed.fsync + failed.fdatasync, pwrite64: failed.pwrite64 };
  for (const [call, errors] of Object.entries(run.variants.length > 0 ? {} : affected)) {
    if (errors === 0) run.violations.add(`no error injected into ${call} made a write fail`);
  }
  return counts;
}

/**
 * Runs the script on a server with a fault, and calls `look` if the server has started. Then kills
 * the server, starts it without the fault, and compares what it has stored.
 */
async function play(
  { variants, random, violations }: Run,
  call: DiskCall,
  what: string,
  look = async (_target: Target, _about: string, _isFinished: boolean) => {},
) {
  const about = `${call} ${what}`;
  await using target = createTarget({ variants });
  const script = createScript(random, scriptLength, { reads: call !== 'fsync' });
  const isUp = await startsUp(target, tampering([call], what));
  const isFinished = isUp && (await script.play(target));
  if (isUp) await look(target, about, isFinished);
  await target.kill();
  await target.start();
  await script.settle(target, violations, about);
  return { isUp, isFinished, ...script.ledger.counts };
}

async function canRead(target: Target): Promise<boolean> {
  const reply = await send(target, { method: 'GET', path: '/v1/memories?userId=script' });
  return reply?.status === 200;
}

function range(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step);
}
