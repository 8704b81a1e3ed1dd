import { createViolations, type Finding, type Harness, type RunOptions } from './harness.ts';
import { createScript } from './script.ts';
import { straceMissing, tampering } from './strace.ts';
import { createTarget } from './target.ts';

/** The occurrences of each system call at which the process is killed. */
const points = {
  quick: { fsync: [2, 4], fdatasync: [2, 9, 13, 19], pwrite64: [20, 80, 101, 140] },
  full: { fsync: upTo(80), fdatasync: upTo(80), pwrite64: upTo(1_500) },
};
const scriptLength = 15;

export const steps: Harness = {
  id: 'P3',
  promise: 'An acknowledged write survives a kill of the process at any I/O step',
  proof:
    'strace kills the server at its k-th fsync, fdatasync and write, during a script of ' +
    `${scriptLength} writes to an empty database, for every k until the script completes`,
  control: { without: 'waiting for COMMIT before the response', variants: ['answer-early'] },
  run,
};

async function run({ seed, tier, variants }: RunOptions): Promise<Finding> {
  const missing = straceMissing();
  if (missing !== null) return { figures: {}, violations: [], skipped: missing };
  const violations = createViolations();
  const counts = { points: 0, duringStart: 0, answered: 0, pastTheEnd: 0 };
  for (const call of ['fsync', 'fdatasync', 'pwrite64'] as const) {
    for (const k of points[tier][call]) {
      const about = `killed at ${call} ${k}`;
      const target = createTarget({ variants });
      const script = createScript(seed, scriptLength, { reads: call !== 'fsync' });
      try {
        const up = await startUnder(target, tampering([call], `signal=KILL:when=${k}`));
        const finished = up && (await script.play(target));
        await target.kill();
        await target.start();
        await script.settle(target, violations, about);
        counts.points += 1;
        counts.answered += script.ledger.counts.answered;
        if (!up) counts.duringStart += 1;
        if (!finished) continue;
        counts.pastTheEnd += 1;
        break;
      } finally {
        await target.remove();
      }
    }
  }
  if (tier === 'full' && counts.pastTheEnd < 3) violations.add('the script has more steps than k');
  return { figures: counts, violations: violations.list() };
}

/** Starts the server. Returns false if the process was killed before it listened. */
async function startUnder(
  target: ReturnType<typeof createTarget>,
  under: string[],
): Promise<boolean> {
  try {
    await target.start(under);
    return true;
  } catch {
    return false;
  }
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
