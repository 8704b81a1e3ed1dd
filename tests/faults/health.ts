import { until } from '../support/until.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { type Fault, faults } from './health-faults.ts';
import { type HealthWatch, watchHealth } from './health-watch.ts';
import { createTarget, type Target } from './target.ts';
import { countLost, expectUnavailable, type Save, saveOnce, startSaves } from './traffic/saves.ts';

const kinds = { quick: 6, full: faults.length };
const rounds = { quick: 1, full: 5 };
const clients = 4;
const beforeMs = 250;
const faultMs = 1_600;
const failingWithinMs = 1_000;
const recoveredWithinMs = 5_000;

export const health: Harness = {
  id: 'P26',
  promise:
    'When writes fail because of a disk or database error, /health returns 503 within one second ' +
    'and writes are rejected with 503 and Retry-After',
  proof:
    `${faults.map(({ name }) => name).join('; ')}: each is injected and removed while ${clients} ` +
    'clients save; then the server is killed and restarted, and the stored memories are compared ' +
    'with the acknowledged saves',
  control: {
    without: 'all SQLite error codes except SQLITE_FULL',
    variants: ['only-full-disk-noted'],
  },
  run,
};

async function run({ tier, variants, violations }: Run): Promise<Figures> {
  const figures: Figures = {};
  const totals = { acknowledged: 0, rejected: 0, lost: 0 };
  for (const fault of faults.slice(0, kinds[tier])) {
    for (let round = 0; round < rounds[tier]; round += 1) {
      await using target = createTarget({ variants });
      await target.start();
      const missing = fault.missing(target);
      figures[fault.name] =
        missing === null
          ? await runFault(target, fault, violations, totals)
          : `NOT RUN: ${missing}`;
    }
  }
  return { ...figures, ...totals };
}

type Totals = { acknowledged: number; rejected: number; lost: number };

async function runFault(
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
  await Bun.sleep(faultMs);
  const endingAt = performance.now();
  await end();
  const recoveredMs = await waitForRecovery(target, watch, fault.name, violations);
  await watch.stop();
  const all = await saves.stop();
  const affected = all.filter((save) => isAffected(save, begunAt, endingAt));
  const noticedMs = checkResponses(affected, endingAt, watch, fault.name, violations);
  totals.acknowledged += all.filter(({ id }) => id !== null).length;
  totals.rejected += affected.length;
  await target.kill();
  await target.start();
  totals.lost += await countLost(target, all, violations, fault.name);
  const statuses = [...new Set(affected.map(({ status }) => status ?? 'none'))];
  return `health after ${noticedMs} ms, writes ${statuses}, recovered after ${recoveredMs} ms`;
}

/** Whether the save failed during the fault, or was blocked until the fault ended. */
function isAffected({ status, sentAt, endedAt }: Save, begunAt: number, endingAt: number): boolean {
  const wasBlocked = status === 201 && endedAt > endingAt && endingAt - sentAt > failingWithinMs;
  return (status !== 201 || wasBlocked) && endedAt > begunAt && sentAt < endingAt;
}

/** Checks the affected writes. Returns the time from the first write to the failing /health. */
function checkResponses(
  affected: Save[],
  endingAt: number,
  { failing, messages }: HealthWatch,
  name: string,
  violations: Violations,
): number | string {
  const first = affected.reduce<Save | null>(
    (earliest, save) => (earliest === null || save.sentAt < earliest.sentAt ? save : earliest),
    null,
  );
  if (first === null) {
    violations.add(`${name}: no write failed`);
    return 'none';
  }
  if (!affected.some(({ status, endedAt }) => status === 503 && endedAt <= endingAt)) {
    violations.add(`${name}: no write was rejected with 503 during the fault`);
  }
  // Writes that are in flight when the first write fails may have an unknown outcome (500).
  const later = affected.filter(({ sentAt, status }) => sentAt > first.endedAt && status !== 201);
  expectUnavailable(later, violations, name);
  if (failing === null || failing.at > endingAt) {
    violations.add(`${name}: /health kept returning 200`);
    return 'none';
  }
  if ([...messages].every((text) => text === ''))
    violations.add(`${name}: /health gives no reason`);
  const noticedMs = Math.max(0, Math.round(failing.at - first.sentAt));
  if (noticedMs > failingWithinMs)
    violations.add(`${name}: /health returned 503 after ${noticedMs} ms`);
  return noticedMs;
}

/** Waits until saves succeed and /health returns 200 again. Returns the elapsed time in ms. */
async function waitForRecovery(
  target: Target,
  watch: HealthWatch,
  name: string,
  violations: Violations,
): Promise<number | string> {
  const begun = performance.now();
  const hasRecovered = async () => {
    const { status } = await saveOnce(target, `after ${begun}`);
    return status === 201 && watch.last?.status === 200 && watch.last.at > begun;
  };
  try {
    await until(hasRecovered, { timeoutMs: recoveredWithinMs });
    return Math.round(performance.now() - begun);
  } catch {
    violations.add(`${name}: no recovery within ${recoveredWithinMs} ms after the fault ended`);
    return 'never';
  }
}
