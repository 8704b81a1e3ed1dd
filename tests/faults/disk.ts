import { until } from '../support/until.ts';
import { find, saveOf, send } from './api.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { type Mount, mountTmpfs, sh } from './mounts.ts';
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

const megabytes = 6;
const maxStored = 500;
const refusedSaves = 10;
const withinMs = 5_000;

export const disk: Harness = {
  id: 'P4',
  promise:
    'A disk error or a full disk neither causes a false 2xx response nor damages stored data',
  proof:
    'strace makes the k-th fsync, fdatasync or pwrite64, alone or with all later ones, fail with ' +
    'EIO or ENOSPC; the server is killed and restarted without injected errors, and the stored ' +
    'memories are compared with the acknowledged writes; a 6 MB file system is filled and ' +
    'enlarged under the running server',
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
  const missing = straceMissing();
  const counts = { ...noCounts };
  const met: Record<DiskCall, number> = { fsync: 0, fdatasync: 0, pwrite64: 0 };
  const figures: Figures = {};
  if (missing === null) {
    for (const tampered of everyTampering(points[tier])) {
      met[tampered.call] += await meetErrors(run, tampered, counts);
    }
    // A control may hide every error, so only runs of the unchanged service are checked.
    const affected = { sync: met.fsync + met.fdatasync, pwrite64: met.pwrite64 };
    for (const [call, errors] of Object.entries(variants.length > 0 ? {} : affected)) {
      if (errors === 0) violations.add(`no error injected into ${call} made a write fail`);
    }
    Object.assign(figures, counts);
  } else figures['injected errors'] = `NOT RUN: ${missing}`;
  return { ...figures, ...(await fillDisk(variants, violations)) };
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

/** Fills a small file system under a running server, then enlarges the file system. */
async function fillDisk(variants: string[], violations: Violations): Promise<Figures> {
  let mount: Mount;
  try {
    mount = mountTmpfs(megabytes);
  } catch (error) {
    return { fullDisk: `NOT RUN: ${error instanceof Error ? error.message : error}` };
  }
  try {
    await using target = createTarget({ variants, folder: mount.folder });
    await target.start();
    const stored = await saveUntilFull(target, violations);
    await expectHealth(target, 503, /disk is full/, violations);
    await expectReadable(target, stored, violations, 'while the disk is full');
    sh('mount', '-o', `remount,size=${megabytes * 4}m`, mount.folder);
    // The health check must recover without a write.
    await expectHealth(target, 200, /"ok"/, violations);
    const last = await save(target);
    if (last?.status === 201) stored.push(idIn(last.text));
    else violations.add(`save after space was freed: ${last?.status} ${last?.text}`);
    await target.kill();
    await target.start();
    await expectReadable(target, stored, violations, 'after the restart');
    return { storedBeforeDiskFull: stored.length - 1 };
  } finally {
    mount.unmount();
  }
}

async function saveUntilFull(target: Target, violations: Violations): Promise<string[]> {
  const stored: string[] = [];
  for (let refused = 0; refused < refusedSaves && stored.length < maxStored; ) {
    const reply = await save(target);
    if (reply?.status === 201) {
      stored.push(idIn(reply.text));
      continue;
    }
    refused += 1;
    const isClear = reply?.status === 503 && /disk is full/.test(reply.text);
    if (!isClear || !reply.headers.has('retry-after'))
      violations.add(`save on a full disk: ${reply?.status} ${reply?.text}`);
  }
  if (stored.length === maxStored)
    violations.add(`${megabytes} MB held ${maxStored} saves of 28 kB`);
  return stored;
}

/** Waits, because the service probes the disk every 500 ms. */
async function expectHealth(
  target: Target,
  status: number,
  text: RegExp,
  violations: Violations,
): Promise<void> {
  const isExpected = async () => {
    const reply = await send(target, { method: 'GET', path: '/health' });
    return reply?.status === status && text.test(reply.text);
  };
  const what = `/health to return ${status} ${text}`;
  await until(isExpected, { timeoutMs: withinMs, what }).catch((error) =>
    violations.add(`${error}`),
  );
}

function save(target: Target) {
  return send(target, saveOf('full', 'fill the disk '.repeat(2_000)));
}

function idIn(text: string): string {
  return (JSON.parse(text) as { id: string }).id;
}

async function expectReadable(
  target: Target,
  ids: string[],
  violations: Violations,
  when: string,
): Promise<void> {
  for (const id of ids) {
    const memory = await find(target, id).catch(() => null);
    if (memory === null) violations.add(`${id} cannot be read ${when}`);
  }
}
