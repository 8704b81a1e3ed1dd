import { Database } from 'bun:sqlite';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { median, short } from './numbers.ts';

/** The length of a clock tick in µs. USER_HZ is 100 on every Linux system. */
const tickMicros = 10_000;

/** Describes the hardware and software that absolute figures depend on. */
export async function describeMachine(folder: string): Promise<[string, string][]> {
  const [cpu] = cpus();
  const sqlite = new Database(':memory:').prepare('SELECT sqlite_version() AS version').get();
  const fileSystem = await output(['findmnt', '-no', 'FSTYPE', '-T', folder]);
  return [
    ['processor', `${cpus().length} cores, ${cpu?.model.trim() ?? 'unknown'}`],
    ['memory', `${short(totalmem() / 2 ** 30)} GiB`],
    ['disk', `${fileSystem}; a write of 4 KiB with fdatasync: ${short(syncMs(folder))} ms`],
    ['system', `${process.platform} ${release()}`],
    ['Bun', Bun.version],
    ['SQLite', (sqlite as { version: string }).version],
    ['Node, for fastify', await output(['node', '--version'])],
    ['commit', await commitOf()],
    ['date', new Date().toISOString().slice(0, 10)],
  ];
}

/** Returns the measured commit, marked if the server or the SDK has uncommitted changes. */
async function commitOf(): Promise<string> {
  const commit = await output(['git', 'rev-parse', '--short', 'HEAD']);
  const changed = (await output(['git', 'status', '--porcelain', 'server', 'sdk'])) !== '';
  return `${commit}${changed ? ', with changes' : ''}`;
}

/**
 * Returns a function that reports how much CPU time other virtual machines (steal time) and other
 * processes have used since this call. High values make the figures less reliable.
 */
export function watchMachine(): () => { rows: [string, string][]; otherCores: number } {
  const begun = performance.now();
  const before = busyTime();
  const ownBefore = ownTicks();
  return () => {
    const { stolen, busy } = busyTime();
    const share = (stolen - before.stolen) / (busy - before.busy);
    const steal = Number.isFinite(share) ? `${short(share * 100)} % of the busy time` : 'unknown';
    const otherTicks = busy - before.busy - (stolen - before.stolen) - (ownTicks() - ownBefore);
    const others = (otherTicks * tickMicros) / 1_000 / (performance.now() - begun);
    const otherCores = Math.max(0, others);
    const rows: [string, string][] = [
      ['steal time', steal],
      ['other processes', `${short(otherCores)} cores on average`],
    ];
    return { rows, otherCores };
  };
}

/** Returns the CPU time of this process and its exited children, in ticks. */
function ownTicks(): number {
  const path = '/proc/self/stat';
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, 'utf8');
  // The command name, in parentheses, may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

/**
 * Returns the CPU times since the machine started, in ticks. They are 0 if the system does not
 * report them.
 */
function busyTime(): { stolen: number; busy: number } {
  const path = '/proc/stat';
  if (!existsSync(path)) return { stolen: 0, busy: 0 };
  const [, ...ticks] = (readFileSync(path, 'utf8').split('\n', 1)[0] ?? '').split(/\s+/);
  const [user = 0, nice = 0, system = 0, , , interrupt = 0, soft = 0, stolen = 0] =
    ticks.map(Number);
  return { stolen, busy: user + nice + system + interrupt + soft + stolen };
}

/** Measures the disk's latency for a small durable write. No durable commit can be faster. */
function syncMs(folder: string): number {
  const path = join(folder, 'sync');
  const file = openSync(path, 'w');
  const page = new Uint8Array(4_096);
  const times = Array.from({ length: 50 }, () => {
    const begun = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - begun;
  });
  closeSync(file);
  rmSync(path);
  return median(times);
}

async function output(command: string[]): Promise<string> {
  try {
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' });
    return (await new Response(child.stdout).text()).trim();
  } catch {
    return 'none';
  }
}
