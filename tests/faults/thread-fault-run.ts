import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import type { Violations } from './harness.ts';
import { type HealthWatch, watchHealth } from './health-watch.ts';
import type { Target } from './target.ts';
import { requestFault, type ThreadFault, triggeredAt, withdrawFault } from './thread-faults.ts';
import { type Asked, startReads } from './traffic/reads.ts';
import { type Save, startSaves } from './traffic/saves.ts';

const clients = 6;
const loadedMs = { from: 50, to: 300 };
const noticedWithinMs = 2_000;
/** Shorter than by default, so that a run takes less time. Calls fail after a third of it. */
export const hungAfterMs = 6_000;
/** The limit for a response, including the time to detect the fault. */
const answeredWithinMs = 4_000;
/** How much longer a busy machine may take to end the process. */
const marginMs = 4_000;

export type Totals = typeof noTotals;
export const noTotals = {
  faults: 0,
  noticed: 0,
  slowestNoticeMs: 0,
  slowestEndMs: 0,
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

/** Injects the fault and waits for the process to exit. Returns the saves that were sent. */
export async function runFault(faultRun: FaultRun): Promise<Save[]> {
  const { target, folder, name, fault, violations, totals } = faultRun;
  const about = `${name}: ${fault.what}, ${fault.when}`;
  const saves = startSaves(target, { clients });
  const reads = startReads(target);
  const health = watchHealth(target);
  totals.faults += 1;
  const faultAt = await inject(faultRun, about);
  if (faultAt !== null) await expectEnd(faultRun, health, faultAt, about);
  await target.kill();
  withdrawFault(folder, name);
  await health.stop();
  const [saved, read] = [await saves.stop(), await reads.stop()];
  totals.hung += countHung([...saved, ...read], about, violations);
  totals.acknowledged += saved.filter(({ id }) => id !== null).length;
  return saved;
}

/** Returns the time of the fault, or null if it was not triggered. */
async function inject(faultRun: FaultRun, about: string): Promise<number | null> {
  const { folder, name, fault, random, violations } = faultRun;
  await Bun.sleep(random.between(loadedMs.from, loadedMs.to));
  requestFault(folder, name, fault);
  const triggered = () => triggeredAt(folder, name);
  const faultAt = await until(triggered, { timeoutMs: 3_000 }).catch(() => null);
  if (faultAt === null) violations.add(`${about}: the fault was not triggered`);
  return faultAt;
}

/** Expects that the process exits with an error message, and that a hang was reported before. */
async function expectEnd(
  { target, name, fault, violations, totals }: FaultRun,
  health: HealthWatch,
  faultAt: number,
  about: string,
): Promise<void> {
  const hangs = fault.what === 'loop' || fault.what === 'block';
  const withinMs = hangs ? hungAfterMs + marginMs : noticedWithinMs;
  const reason = `the ${name} thread ${hangs ? 'does not respond' : 'exited'}`;
  const code = await Promise.race([target.whenDown(), Bun.sleep(withinMs).then(() => 'none')]);
  const endedAt = Date.now();
  if (code === 'none') violations.add(`${about}: the process did not exit within ${withinMs} ms`);
  else if (code !== 1) violations.add(`${about}: the exit code was ${code}`);
  else totals.slowestEndMs = Math.max(totals.slowestEndMs, endedAt - faultAt);
  if (!target.log().includes(reason)) violations.add(`${about}: the log does not say "${reason}"`);
  const failedAt = health.messages.has(reason) ? health.failing?.at : undefined;
  const reportedAt = failedAt === undefined ? null : performance.timeOrigin + failedAt;
  const noticedAt = hangs ? reportedAt : endedAt;
  if (noticedAt === null) {
    violations.add(`${about}: never noticed`);
    return;
  }
  const ms = Math.max(0, Math.round(noticedAt - faultAt));
  totals.noticed += 1;
  totals.slowestNoticeMs = Math.max(totals.slowestNoticeMs, ms);
  if (ms > noticedWithinMs) violations.add(`${about}: noticed after ${ms} ms`);
}

function countHung(asked: Asked[], about: string, violations: Violations): number {
  const hung = asked.filter(({ sentAt, endedAt }) => endedAt - sentAt > answeredWithinMs);
  if (hung.length > 0) violations.add(`${about}: ${hung.length} requests hung`);
  return hung.length;
}
