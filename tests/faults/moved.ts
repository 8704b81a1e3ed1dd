import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom, type Random } from '../support/random.ts';
import { createViolations, type Finding, type Harness, type RunOptions } from './harness.ts';
import { watchHealth } from './health-watch.ts';
import { acts, bringBack, isLossless } from './moved-acts.ts';
import { createTarget, type Target } from './target.ts';
import { countLost, expectRefusals, type Save, saveOnce, startSaves } from './traffic/saves.ts';

const cycles = { quick: 1, full: 12 };
const clients = 8;
const loadedMs = { from: 150, to: 900 };
/** Between the act and the first sign of it. */
const noticeWithinMs = 1_000;
const watchMs = 2_000;
const afterNoticeMs = 400;
/** Saved before, and in the file that replaces the other. */
const firstSaves = 20;
const said = /moved|removed|deleted|replaced|missing|another file|different file/i;

export const moved: Harness = {
  id: 'P25',
  promise:
    'A database file that is moved, removed or replaced beneath the server stops its writes with ' +
    '503, and loses nothing that was answered',
  proof:
    `${acts.map(({ name }) => name).join(', ')} at random moments under ${clients} clients; ` +
    'writes and /health afterwards; then a stop or kill -9, the file moved back, a start, and the ' +
    'comparison',
  control: { without: 'the comparison of device and inode', variants: ['no-inode-check'] },
  run,
};

type Counts = typeof noCounts;
const noCounts = { cycles: 0, answered: 0, answeredUnnoticed: 0, answeredLater: 0, lost: 0 };

async function run({ seed, tier, variants }: RunOptions): Promise<Finding> {
  const random = createRandom(seed);
  const violations = createViolations();
  const counts = { ...noCounts };
  const noticedMs: number[] = [];
  for (let cycle = 0; cycle < cycles[tier]; cycle += 1) {
    for (const act of acts) {
      const folder = mkdtempSync(join(tmpdir(), 'memory-moved-'));
      const target = createTarget({ variants, folder });
      try {
        const options = { target, act, random, violations, counts };
        const noticed = await disturb(options);
        if (noticed !== null) noticedMs.push(noticed);
        counts.cycles += 1;
      } finally {
        await target.remove();
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
  const slowestNoticeMs = noticedMs.length === 0 ? 'never' : Math.round(Math.max(...noticedMs));
  const figures = { ...counts, noticed: noticedMs.length, slowestNoticeMs };
  return { figures, violations: violations.list() };
}

type Cycle = {
  target: Target;
  act: (typeof acts)[number];
  random: Random;
  violations: ReturnType<typeof createViolations>;
  counts: Counts;
};

/** Returns after how many ms it was noticed. */
async function disturb({ target, act, random, violations, counts }: Cycle): Promise<number | null> {
  const other = `${target.path}.other`;
  const before = await prepare(target, other);
  await target.start();
  const saves = startSaves(target, { clients });
  await Bun.sleep(random.between(loadedMs.from, loadedMs.to));
  act.do(target.path, other);
  const actedAt = performance.now();
  const noticedAt = await watch(target, saves.all, actedAt, act.name, violations);
  const all = [...before, ...(await saves.stop())];
  const late = all.filter(({ id, sentAt }) => id !== null && sentAt > (noticedAt ?? Infinity));
  if (late.length > 0) violations.add(`${act.name}: ${late.length} answered 201 after the notice`);
  counts.answered += all.filter(({ id }) => id !== null).length;
  counts.answeredUnnoticed += all.filter(({ id, sentAt }) => id && sentAt > actedAt).length;
  counts.answeredLater += late.length;
  if (!target.running())
    violations.add(`${act.name}: the server ended: ${target.log().slice(-200)}`);
  await (random.chance(0.5) ? target.stop() : target.kill());
  if (isLossless(act)) counts.lost += await recover({ target, act, violations }, all);
  return noticedAt === null ? null : noticedAt - actedAt;
}

/** A database with a few memories, and a copy of it. */
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

/** Returns when the first sign of it was seen: a write refused, or health failing. */
async function watch(
  target: Target,
  saves: Save[],
  actedAt: number,
  name: string,
  violations: Cycle['violations'],
): Promise<number | null> {
  const health = watchHealth(target);
  const refused = () => saves.find(({ status, endedAt }) => status === 503 && endedAt > actedAt);
  const isSeen = () => health.failing !== null && refused() !== undefined;
  while (!isSeen() && target.running() && performance.now() < actedAt + watchMs)
    await Bun.sleep(10);
  await Bun.sleep(afterNoticeMs);
  await health.stop();
  const refusedAt = refused()?.endedAt;
  if (health.failing === null) violations.add(`${name}: /health went on saying that all is well`);
  else if (![...health.messages].some((text) => said.test(text))) {
    violations.add(`${name}: /health does not say why: ${[...health.messages]}`);
  }
  if (refusedAt === undefined) violations.add(`${name}: no write was answered 503`);
  const signs = [refusedAt, health.failing?.at].filter((at) => at !== undefined);
  if (signs.length === 0) return null;
  const noticedAt = Math.min(...signs);
  const tookMs = Math.round(noticedAt - actedAt);
  if (tookMs > noticeWithinMs) violations.add(`${name}: noticed after ${tookMs} ms`);
  expectRefusals(
    saves.filter(({ sentAt }) => sentAt > noticedAt),
    violations,
    name,
  );
  return noticedAt;
}

/** Returns how many answered saves are not there after the file was moved back. */
async function recover(
  { target, act, violations }: Pick<Cycle, 'target' | 'act' | 'violations'>,
  saves: Save[],
): Promise<number> {
  if (existsSync(target.path)) violations.add(`${act.name}: a new file was made in its place`);
  bringBack(target.path);
  try {
    await target.start();
  } catch (error) {
    violations.add(`${act.name}: moved back it does not start: ${String(error).slice(0, 300)}`);
    return saves.length;
  }
  return countLost(target, saves, violations, act.name);
}
