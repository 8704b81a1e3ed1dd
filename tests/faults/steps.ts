import { type Figures, type Harness, type Run, skipIf } from './harness.ts';
import { createScript } from './script.ts';
import { straceMissing, tampering } from './strace.ts';
import { createTarget, startsUp } from './target.ts';

/** The occurrences of each system call at which the process is killed. */
const points = {
  quick: { fsync: [2, 4], fdatasync: [2, 9, 13, 19], pwrite64: [20, 80, 101, 140] },
  full: { fsync: upTo(80), fdatasync: upTo(80), pwrite64: upTo(1_500) },
};
const scriptLength = 15;

export const steps: Harness = {
  id: 'P3',
  promise: 'An acknowledged write (2xx) survives a crash of the server at any I/O step',
  proof:
    'strace kills the server at its k-th fsync, fdatasync or pwrite64 while the server creates a ' +
    `database and executes a script of ${scriptLength} writes; k increases until the script ` +
    'completes; after each restart, the stored memories are compared with the acknowledged writes',
  control: { without: 'waiting for COMMIT before responding', variants: ['answer-early'] },
  run,
};

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  skipIf(straceMissing());
  const counts = { crashPoints: 0, duringStartup: 0, acknowledged: 0, completedScripts: 0 };
  for (const call of ['fsync', 'fdatasync', 'pwrite64'] as const) {
    for (const k of points[tier][call]) {
      const about = `killed at ${call} ${k}`;
      await using target = createTarget({ variants });
      const script = createScript(random, scriptLength, { reads: call !== 'fsync' });
      const up = await startsUp(target, tampering([call], `signal=KILL:when=${k}`));
      const finished = up && (await script.play(target));
      await target.kill();
      await target.start();
      await script.settle(target, violations, about);
      counts.crashPoints += 1;
      counts.acknowledged += script.ledger.counts.acknowledged;
      if (!up) counts.duringStartup += 1;
      if (!finished) continue;
      counts.completedScripts += 1;
      break;
    }
  }
  if (tier === 'full' && counts.completedScripts < 3) {
    violations.add('the script makes more system calls than the harness tests');
  }
  return counts;
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
