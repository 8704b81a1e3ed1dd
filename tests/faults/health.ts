import { until } from '../support/until.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { type Fault, faults } from './health-faults.ts';
import { type HealthWatch, watchHealth } from './health-watch.ts';
import { createTarget, type Target } from './target.ts';
import { countLost, expectRefusals, type Save, saveOnce, startSaves } from './traffic/saves.ts';

const kinds = { quick: 6, full: faults.length };
const rounds = { quick: 1, full: 5 };
const clients = 4;
const beforeMs = 250;
const lastsMs = 1_600;
const failingWithinMs = 1_000;
const healedWithinMs = 5_000;

export const health: Harness = {
  id: 'P26',
  promise:
    'While writes fail for any reason of disk or database, /health is 503 within a second and ' +
    'writes answer 503 with Retry-After',
  proof:
    `${faults.map(({ name }) => name).join(', ')}, begun and ended under ${clients} clients that ` +
    'save; then kill -9 and the comparison',
  control: { without: 'all errors but that of a full disk', variants: ['only-full-disk-noted'] },
  run,
};

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const figures: Finding['figures'] = {};
  const totals = { answered: 0, refused: 0, lost: 0 };
  for (const fault of faults.slice(0, kinds[tier])) {
    for (let round = 0; round < rounds[tier]; round += 1) {
      const target = createTarget({ variants });
      try {
        await target.start();
        const missing = fault.missing(target);
        if (missing === null) figures[fault.name] = await suffer(target, fault, violations, totals);
        else figures[fault.name] = `NOT RUN: ${missing}`;
      } finally {
        await target.remove();
      }
    }
  }
  return { figures: { ...figures, ...totals }, violations: violations.list() };
}

type Totals = { answered: number; refused: number; lost: number };

async function suffer(
  target: Target,
  fault: Fault,
  violations: Violations,
  totals: Totals,
): Promise<string> {
  const saves = startSaves(target, { clients });
  await Bun.sleep(beforeMs);
  const watch = watchHealth(target);
  const end = await fault.begin(target);
  const begunAt = performance.now();
  await Bun.sleep(lastsMs);
  const endingAt = performance.now();
  await end();
  const healedMs = await heal(target, watch, fault.name, violations);
  await watch.stop();
  const all = await saves.stop();
  const during = all.filter((save) => isDuring(save, begunAt, endingAt));
  const seenMs = judge(during, endingAt, watch, fault.name, violations);
  totals.answered += all.filter(({ id }) => id !== null).length;
  totals.refused += during.length;
  await target.kill();
  await target.start();
  totals.lost += await countLost(target, all, violations, fault.name);
  const statuses = [...new Set(during.map(({ status }) => status ?? 'none'))];
  return `health after ${seenMs} ms, writes ${statuses}, well again after ${healedMs} ms`;
}

/** Met the fault: failed while it lasted, or was still waiting when it ended. */
function isDuring({ status, sentAt, endedAt }: Save, begunAt: number, endingAt: number): boolean {
  const waited = status === 201 && endedAt > endingAt && endingAt - sentAt > failingWithinMs;
  return (status !== 201 || waited) && endedAt > begunAt && sentAt < endingAt;
}

/** Returns how long after the first write that failed /health said so. */
function judge(
  during: Save[],
  endingAt: number,
  { failing, messages }: HealthWatch,
  name: string,
  violations: Violations,
): number | string {
  const first = during.reduce<Save | null>(
    (earliest, save) => (earliest === null || save.sentAt < earliest.sentAt ? save : earliest),
    null,
  );
  if (first === null) {
    violations.add(`${name}: no write failed`);
    return 'none';
  }
  if (!during.some(({ status, endedAt }) => status === 503 && endedAt <= endingAt)) {
    violations.add(`${name}: no write was answered 503 while it lasted`);
  }
  // Those that were on their way together with the first may be of unknown outcome.
  const later = during.filter(({ sentAt, status }) => sentAt > first.endedAt && status !== 201);
  expectRefusals(later, violations, name);
  if (failing === null || failing.at > endingAt) {
    violations.add(`${name}: /health went on saying that all is well`);
    return 'none';
  }
  if ([...messages].every((text) => text === ''))
    violations.add(`${name}: /health gives no reason`);
  const seenMs = Math.max(0, Math.round(failing.at - first.sentAt));
  if (seenMs > failingWithinMs) violations.add(`${name}: /health was 503 after ${seenMs} ms`);
  return seenMs;
}

/** Returns after how long it was well again. */
async function heal(
  target: Target,
  watch: HealthWatch,
  name: string,
  violations: Violations,
): Promise<number | string> {
  const begun = performance.now();
  const isWell = async () => {
    const { status } = await saveOnce(target, `after ${begun}`);
    return status === 201 && watch.last?.status === 200 && watch.last.at > begun;
  };
  try {
    await until(isWell, { timeoutMs: healedWithinMs });
    return Math.round(performance.now() - begun);
  } catch {
    violations.add(`${name}: not well ${healedWithinMs} ms after it ended`);
    return 'never';
  }
}
