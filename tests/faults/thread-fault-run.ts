import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { send } from './api.ts';
import type { Violations } from './harness.ts';
import { type HealthWatch, watchHealth } from './health-watch.ts';
import type { Target } from './target.ts';
import { requestFault, type ThreadFault, triggeredAt, withdrawFault } from './thread-faults.ts';
import { type Asked, startReads } from './traffic/reads.ts';
import { type Save, saveOnce, startSaves } from './traffic/saves.ts';

const clients = 6;
const loadedMs = { from: 50, to: 300 };
const noticedWithinMs = 2_000;
/** The limit for a response, including the time to detect the fault. */
const answeredWithinMs = 4_000;
const recoveredWithinMs = 6_000;
/**
 * The time limit for recovery if a thread blocks in a system call. Such a thread cannot be
 * terminated, so the service waits for the thread, then exits.
 */
const blockedWithinMs = 40_000;
const readPaths = ['/health', '/v1/memories?userId=one', '/v1/memories/search?userId=one&query=x'];

export type Totals = typeof noTotals;
export const noTotals = {
  faults: 0,
  detected: 0,
  slowestDetectionMs: 0,
  restarts: 0,
  hung: 0,
  acknowledged: 0,
};

/** A thread's name and its fault. */
export type Case = { name: string; fault: ThreadFault };

type FaultRun = Case & {
  target: Target;
  folder: string;
  random: Random;
  violations: Violations;
  totals: Totals;
};

/** Injects the fault and waits for the recovery. Returns the saves that were sent meanwhile. */
export async function runFault(faultRun: FaultRun): Promise<Save[]> {
  const { target, name, fault, violations, totals } = faultRun;
  const about = `${name}: ${fault.what}, ${fault.when}`;
  const saves = startSaves(target, { clients });
  const reads = startReads(target);
  const health = watchHealth(target);
  totals.faults += 1;
  await inject(faultRun, health, about);
  await expectRecovery(target, about, violations, totals);
  await health.stop();
  const [saved, read] = [await saves.stop(), await reads.stop()];
  totals.hung += countHung([...saved, ...read], about, violations);
  totals.acknowledged += saved.filter(({ id }) => id !== null).length;
  return saved;
}

/** Injects the fault and waits until it is detected. Times are from `Date.now()`. */
async function inject(faultRun: FaultRun, health: HealthWatch, about: string): Promise<void> {
  const { target, folder, name, fault, random, violations, totals } = faultRun;
  let endedAt: number | null = null;
  void target.whenDown().then(() => {
    endedAt = Date.now();
  });
  await Bun.sleep(random.between(loadedMs.from, loadedMs.to));
  requestFault(folder, name, fault);
  const triggered = () => triggeredAt(folder, name);
  const faultAt = await until(triggered, { timeoutMs: 3_000 }).catch(() => null);
  if (faultAt === null) violations.add(`${about}: the fault was not triggered`);
  const noticedAt = () => {
    const reports = [health.failing, health.warning].filter((report) => report !== null);
    const reported = reports.map(({ at }) => performance.timeOrigin + at);
    const times = [...lossesIn(target.log()), ...reported, ...(endedAt === null ? [] : [endedAt])];
    const later = times.filter((at) => at >= (faultAt ?? Infinity));
    return later.length === 0 ? null : Math.min(...later);
  };
  if (faultAt !== null) {
    await until(noticedAt, { timeoutMs: answeredWithinMs }).catch(() => {});
    checkNotice(noticedAt(), faultAt, about, violations, totals);
  }
  withdrawFault(folder, name);
}

/** Returns the times at which the service logged the loss of a thread. */
function lossesIn(log: string): number[] {
  return log.split('\n').flatMap((line) => {
    const [, time = ''] =
      /^\{"time":"([^"]+)".*thread (?:does not respond|exited)/.exec(line) ?? [];
    return time === '' ? [] : [Date.parse(time)];
  });
}

function checkNotice(
  noticedAt: number | null,
  faultAt: number,
  about: string,
  violations: Violations,
  totals: Totals,
): void {
  if (noticedAt === null) {
    violations.add(`${about}: never detected`);
    return;
  }
  const ms = Math.max(0, Math.round(noticedAt - faultAt));
  totals.detected += 1;
  totals.slowestDetectionMs = Math.max(totals.slowestDetectionMs, ms);
  if (ms > noticedWithinMs) violations.add(`${about}: detected after ${ms} ms`);
}

function countHung(asked: Asked[], about: string, violations: Violations): number {
  const hung = asked.filter(({ sentAt, endedAt }) => endedAt - sentAt > answeredWithinMs);
  if (hung.length > 0) violations.add(`${about}: ${hung.length} requests hung`);
  return hung.length;
}

/** Restarts the server if it has exited. The server must then save, list and search. */
async function expectRecovery(
  target: Target,
  about: string,
  violations: Violations,
  totals: Totals,
) {
  const hasRecovered = async () => {
    if (!target.running()) {
      totals.restarts += 1;
      if (!target.log().includes('the service is exiting'))
        violations.add(`${about}: the process exited without an error message`);
      await target.start();
    }
    const { status } = await saveOnce(target, `after ${about}`);
    if (status !== 201) return false;
    for (const path of readPaths) {
      const reply = await send(target, { method: 'GET', path });
      if (reply?.status !== 200) return false;
    }
    return true;
  };
  const timeoutMs = about.includes('block') ? blockedWithinMs : recoveredWithinMs;
  if (await until(hasRecovered, { timeoutMs }).catch(() => false)) return;
  violations.add(`${about}: no recovery within ${timeoutMs} ms`);
  await target.kill();
}
