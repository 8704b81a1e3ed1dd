import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../support/process.ts';
import { until } from '../support/until.ts';
import { type Call, listAll, type Reply, saveOf, send } from './api.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { canMountTmpfs, mountTmpfs, sh } from './mounts.ts';
import { attach, type DiskCall, straceMissing } from './strace.ts';
import { createTarget, type Target } from './target.ts';
import { startLoops } from './traffic/loops.ts';

/** A reason why writes fail. */
type Fault = {
  name: string;
  /** Whether the database must be on a small file system of its own. */
  isOnTmpfs?: true;
  /** Returns why the fault cannot be injected on this machine, or null if it can. */
  missing(target: Target): string | null;
  /** Injects the fault. Resolves with a function that removes the fault. */
  begin(target: Target): Promise<() => Promise<unknown>>;
};

const walOf = ({ path }: Target) => `${path}-wal`;
const writes: DiskCall[] = ['pwrite64'];
const syncs: DiskCall[] = ['fsync', 'fdatasync'];

/** The quick tier uses the first seven. */
const faults: Fault[] = [
  injected('EIO', syncs),
  injected('EROFS', writes),
  injected('EDQUOT', writes),
  injected('ENOSPC', writes),
  locked(),
  immutable(),
  full(),
  injected('EIO', writes),
  injected('ENOSPC', syncs),
];

function injected(error: string, calls: DiskCall[]): Fault {
  return {
    name: `${error} from ${calls.join(' and ')}`,
    missing: straceMissing,
    begin: (target) => attach(target.pid, { calls, error, path: walOf(target) }),
  };
}

const holder = join(import.meta.dir, 'traffic/lock-holder.ts');

/** Starts a process that holds an exclusive lock on the database. */
function locked(): Fault {
  return {
    name: 'database locked by another process',
    missing: () => null,
    async begin({ path }) {
      const child = startChild([process.execPath, holder, path]);
      await child.ready;
      return () => child.end('SIGKILL');
    },
  };
}

/** Makes the WAL file immutable. Writes then fail with EPERM, even through open descriptors. */
function immutable(): Fault {
  const set = (flag: '+i' | '-i', path: string) => sh('chattr', flag, path);
  return {
    name: 'immutable WAL file',
    missing(target) {
      try {
        for (const flag of ['+i', '-i'] as const) set(flag, target.path);
        return null;
      } catch (error) {
        return String(error);
      }
    },
    async begin(target) {
      set('+i', walOf(target));
      return async () => existsSync(walOf(target)) && set('-i', walOf(target));
    },
  };
}

/** Fills the file system of the database. */
function full(): Fault {
  return {
    name: 'full file system',
    isOnTmpfs: true,
    missing: () => (canMountTmpfs() ? null : 'a tmpfs cannot be mounted'),
    async begin({ path }) {
      const ballast = `${path}.ballast`;
      // Without a count, dd stops when the file system is full.
      Bun.spawnSync(['dd', 'if=/dev/zero', `of=${ballast}`, 'bs=4096']);
      return async () => rmSync(ballast);
    },
  };
}

const megabytes = 64;
const kinds = { quick: 7, full: faults.length };
const rounds = { quick: 1, full: 5 };
const clients = 4;
const userId = 'saves';
const pauseMs = { saved: 2, otherwise: 20, health: 25 };
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
    const add = (text: string) => violations.add(`${fault.name}: ${text}`);
    for (let round = 0; round < rounds[tier]; round += 1) {
      await using all = new AsyncDisposableStack();
      const isOnTmpfs = fault.isOnTmpfs && canMountTmpfs();
      const mount = isOnTmpfs && all.adopt(mountTmpfs(megabytes), ({ unmount }) => unmount());
      const target = all.use(createTarget({ variants, ...(mount && { folder: mount.folder }) }));
      await target.start();
      const missing = fault.missing(target);
      figures[fault.name] =
        missing === null ? await runFault(target, fault, totals, add) : `NOT RUN: ${missing}`;
    }
  }
  return { ...figures, ...totals };
}

/** A request and its response. Times are from `performance.now()`. */
type Sent = { call: Call; sentAt: number; endedAt: number; reply: Reply | null };

type Totals = { acknowledged: number; rejected: number; lost: number };
type AddViolation = (text: string) => void;

async function runFault(target: Target, fault: Fault, totals: Totals, add: AddViolation) {
  const saves: Sent[] = [];
  const checks: Sent[] = [];
  async function sendInto(all: Sent[], call: Call): Promise<number | undefined> {
    const sentAt = performance.now();
    const reply = await send(target, call);
    all.push({ call, sentAt, endedAt: performance.now(), reply });
    return reply?.status;
  }
  async function save(): Promise<void> {
    const status = await sendInto(saves, saveOf(userId, crypto.randomUUID()));
    await Bun.sleep(status === 201 ? pauseMs.saved : pauseMs.otherwise);
  }
  async function check(): Promise<void> {
    await sendInto(checks, { method: 'GET', path: '/health' });
    await Bun.sleep(pauseMs.health);
  }
  const loops = startLoops([...Array.from({ length: clients }, () => save), check]);
  await Bun.sleep(beforeMs);
  const end = await fault.begin(target);
  const begunAt = performance.now();
  await Bun.sleep(faultMs);
  const endingAt = performance.now();
  await end();
  const endedAt = performance.now();
  const isOk = (one: Sent | undefined, status: number) =>
    one !== undefined && one.sentAt > endedAt && one.reply?.status === status;
  const hasRecovered = () => saves.some((one) => isOk(one, 201)) && isOk(checks.at(-1), 200);
  await until(hasRecovered, { timeoutMs: recoveredWithinMs, what: 'recovery' }).catch((error) =>
    add(String(error)),
  );
  const recoveredMs = Math.round(performance.now() - endedAt);
  await loops.stop();
  const affected = saves.filter((one) => isAffected(one, begunAt, endingAt));
  const noticedMs = expectUnavailable(affected, checks, endingAt, add);
  const answered = saves.filter(({ reply }) => reply?.status === 201);
  await target.kill();
  await target.start();
  const stored = new Set((await listAll(target, userId)).map(({ content }) => content));
  const lost = answered.filter(({ call }) => !stored.has(contentOf(call))).length;
  if (lost > 0) add(`${lost} of ${answered.length} acknowledged saves are lost`);
  totals.acknowledged += answered.length;
  totals.rejected += affected.length;
  totals.lost += lost;
  const statuses = [...new Set(affected.map(({ reply }) => reply?.status ?? 'none'))];
  return `health after ${noticedMs} ms, writes ${statuses}, recovered after ${recoveredMs} ms`;
}

function contentOf({ body }: Call): string {
  return (body as { content: string }).content;
}

/** Whether the save failed during the fault, or was blocked until the fault ended. */
function isAffected({ reply, sentAt, endedAt }: Sent, begunAt: number, endingAt: number): boolean {
  const isSaved = reply?.status === 201;
  const wasBlocked = endedAt > endingAt && endingAt - sentAt > failingWithinMs;
  return (!isSaved || wasBlocked) && endedAt > begunAt && sentAt < endingAt;
}

/** Checks the affected writes. Returns the time from the first write to the failing /health. */
function expectUnavailable(
  affected: Sent[],
  checks: Sent[],
  endingAt: number,
  add: AddViolation,
): number | string {
  const [first] = affected.toSorted((a, b) => a.sentAt - b.sentAt);
  if (first === undefined) {
    add('no write failed');
    return 'none';
  }
  if (!affected.some(({ reply, endedAt }) => reply?.status === 503 && endedAt <= endingAt))
    add('no write was rejected with 503 during the fault');
  // Writes that are in flight when the first write fails may have an unknown outcome (500).
  for (const { sentAt, reply } of affected) {
    const isClear = reply?.status === 503 && reply.headers.has('retry-after');
    if (sentAt > first.endedAt && reply?.status !== 201 && !isClear)
      add(`a write returned ${reply?.status}, expected 503 with Retry-After`);
  }
  const failing = checks.filter(({ reply }) => reply?.status !== 200);
  if (!failing.some(({ reply }) => reply?.text.includes('"message":"')))
    add('/health gives no reason');
  const noticedMs = Math.round((failing[0]?.endedAt ?? Number.POSITIVE_INFINITY) - first.sentAt);
  if (noticedMs > failingWithinMs) add(`/health returned 503 after ${noticedMs} ms`);
  return Math.max(0, noticedMs);
}
