import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { startChild } from '../support/process.ts';
import { until } from '../support/until.ts';

const program = '/usr/bin/strace';

/** Returns why strace cannot inject faults on this machine, or null if it can. */
export function straceMissing(): string | null {
  if (process.platform !== 'linux') return 'strace requires Linux';
  if (!existsSync(program)) return `${program} is not installed`;
  const tried = Bun.spawnSync([program, '-f', '-qq', '-o', '/dev/null', 'true']);
  return tried.exitCode === 0 ? null : 'strace cannot trace here (ptrace is not permitted)';
}

/** Whether SQLite syncs with fsync or with fdatasync depends on how it was compiled. */
export type DiskCall = 'fsync' | 'fdatasync' | 'pwrite64';

/** The delay of every fsync in a run that injects no fault into fsync. */
const slowMicros = 2_000;

/** Returns a strace command that injects `what` into the calls, such as `signal=KILL:when=3`. */
export function tampering(calls: DiskCall[], what: string): string[] {
  const inject = ['-e', `inject=${calls}:${what}`];
  if (!calls.includes('fsync')) inject.push('-e', `inject=fsync:delay_exit=${slowMicros}`);
  const traced = ['-e', `trace=${[...new Set([...calls, 'fsync'])]}`];
  return [program, '-f', '-qq', '-o', '/dev/null', ...traced, ...inject];
}

/** Makes system calls on the file fail in all threads of a process. The result ends that. */
export async function attach(
  pid: number,
  { calls, error, path }: { calls: DiskCall[]; error: string; path: string },
): Promise<() => Promise<unknown>> {
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`];
  const tracer = startChild([
    ...[program, '-f', '-qq', '-o', '/dev/null', '-P', path, ...inject],
    ...['-p', String(pid)],
  ]);
  const what = `strace on every thread (${tracer.log()})`;
  await until(() => isTraced(pid), { what, timeoutMs: 5_000 });
  return () => tracer.end('SIGTERM');
}

function isTraced(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const path = `/proc/${pid}/task/${thread}/status`;
    // The thread may have exited since readdirSync returned.
    return !existsSync(path) || /TracerPid:\s+[1-9]/.test(readFileSync(path, 'utf8'));
  });
}
