import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { send } from './api.ts';
import type { Violations } from './harness.ts';
import { type HealthWatch, watchHealth } from './health-watch.ts';
import type { Target } from './target.ts';
import { obeyedAt, order, startedThreads, type ThreadFault, withdraw } from './thread-faults.ts';
import { type Asked, startReads } from './traffic/reads.ts';
import { type Save, saveOnce, startSaves } from './traffic/saves.ts';

const clients = 6;
const loadedMs = { from: 50, to: 300 };
const noticedWithinMs = 2_000;
/** Noticing it, and answering. */
const answeredWithinMs = 4_000;
const wellWithinMs = 6_000;
/** A thread in a system call cannot be ended; the service waits for it, and then ends. */
const blockedWithinMs = 40_000;
const wellPaths = ['/health', '/v1/memories?userId=one', '/v1/memories/search?userId=one&query=x'];

export type Totals = typeof noTotals;
export const noTotals = {
  faults: 0,
  noticed: 0,
  slowestNoticeMs: 0,
  restarts: 0,
  hung: 0,
  answered: 0,
};

/** A thread, and what happens to it. */
export type Case = { name: string; fault: ThreadFault };

type Meeting = Case & {
  target: Target;
  folder: string;
  random: Random;
  violations: Violations;
  totals: Totals;
};

/** Returns the saves that were sent meanwhile. */
export async function meet(meeting: Meeting): Promise<Save[]> {
  const { target, name, fault, violations, totals } = meeting;
  const about = `${name}: ${fault.what}, ${fault.when}`;
  const saves = startSaves(target, { clients });
  const reads = startReads(target);
  const health = watchHealth(target);
  totals.faults += 1;
  await cause(meeting, health, about);
  await goOn(target, about, violations, totals);
  await health.stop();
  const [saved, read] = [await saves.stop(), await reads.stop()];
  totals.hung += countHung([...saved, ...read], about, violations);
  totals.answered += saved.filter(({ id }) => id !== null).length;
  return saved;
}

/** Orders the fault and waits for a sign of it. Times are of `Date.now()`. */
async function cause(meeting: Meeting, health: HealthWatch, about: string): Promise<void> {
  const { target, folder, name, fault, random, violations, totals } = meeting;
  let endedAt: number | null = null;
  void target.whenDown().then(() => {
    endedAt = Date.now();
  });
  await Bun.sleep(random.between(loadedMs.from, loadedMs.to));
  order(folder, name, fault);
  const obeyed = () => obeyedAt(folder, name);
  const faultAt = await until(obeyed, { timeoutMs: 3_000 }).catch(() => null);
  if (faultAt === null) violations.add(`${about}: the thread did not come to it`);
  const noticedAt = () => {
    const anew = startedThreads(folder).map(({ at }) => at);
    const failing = health.failing === null ? [] : [performance.timeOrigin + health.failing.at];
    const times = [...anew, ...failing, ...(endedAt === null ? [] : [endedAt])];
    const later = times.filter((at) => at >= (faultAt ?? Infinity));
    return later.length === 0 ? null : Math.min(...later);
  };
  if (faultAt !== null) {
    await until(noticedAt, { timeoutMs: answeredWithinMs }).catch(() => {});
    judgeNotice(noticedAt(), faultAt, about, violations, totals);
  }
  withdraw(folder, name);
}

function judgeNotice(
  noticedAt: number | null,
  faultAt: number,
  about: string,
  violations: Violations,
  totals: Totals,
): void {
  if (noticedAt === null) {
    violations.add(`${about}: nobody noticed`);
    return;
  }
  const ms = Math.max(0, Math.round(noticedAt - faultAt));
  totals.noticed += 1;
  totals.slowestNoticeMs = Math.max(totals.slowestNoticeMs, ms);
  if (ms > noticedWithinMs) violations.add(`${about}: noticed after ${ms} ms`);
}

function countHung(asked: Asked[], about: string, violations: Violations): number {
  const hung = asked.filter(({ sentAt, endedAt }) => endedAt - sentAt > answeredWithinMs);
  if (hung.length > 0) violations.add(`${about}: ${hung.length} requests were not answered`);
  return hung.length;
}

/** Starts it again where it ended; then it must save, list and search. */
async function goOn(target: Target, about: string, violations: Violations, totals: Totals) {
  const isWell = async () => {
    if (!target.running()) {
      totals.restarts += 1;
      if (target.log().trim() === '') violations.add(`${about}: it ended without a reason`);
      await target.start();
    }
    const { status } = await saveOnce(target, `after ${about}`);
    if (status !== 201) return false;
    for (const path of wellPaths) {
      const reply = await send(target, { method: 'GET', path });
      if (reply?.status !== 200) return false;
    }
    return true;
  };
  const timeoutMs = about.includes('block') ? blockedWithinMs : wellWithinMs;
  if (await until(isWell, { timeoutMs }).catch(() => false)) return;
  violations.add(`${about}: not well ${timeoutMs} ms later`);
  await target.kill();
}
