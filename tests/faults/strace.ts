import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { startChild } from '../support/process.ts';
import { until } from '../support/until.ts';

const program = '/usr/bin/strace';

/** Why system calls cannot be tampered with here, or null. */
export function straceMissing(): string | null {
  if (process.platform !== 'linux') return 'strace needs Linux';
  if (!existsSync(program)) return `${program} is not installed`;
  const tried = Bun.spawnSync([program, '-f', '-qq', '-o', '/dev/null', 'true']);
  return tried.exitCode === 0 ? null : 'strace may not trace here (ptrace is not permitted)';
}

/** A lone write is synced by SQLite, by fsync; the others by the writer, by fdatasync. So is a lone
 * one where the disk is slow and somebody reads. */
export type DiskCall = 'fsync' | 'fdatasync' | 'pwrite64';

/** A disk that takes as long is slow. */
const slowMicros = 2_000;

/** Runs a command so that `what` happens to the system calls, such as `signal=KILL:when=3`; with a
 * `path` only to those on this file. */
export function tampering(calls: DiskCall[], what: string, path?: string): string[] {
  const inject = ['-e', `inject=${calls}:${what}`];
  // Else a lone write would never come to the writer's own sync, though somebody reads.
  if (!calls.includes('fsync')) inject.push('-e', `inject=fsync:delay_exit=${slowMicros}`);
  const traced = ['-e', `trace=${[...new Set([...calls, 'fsync'])]}`];
  const only = path === undefined ? [] : ['-P', path];
  return [program, '-f', '-qq', '-o', '/dev/null', ...only, ...traced, ...inject];
}

/** Makes system calls on the file fail in all threads of a running process, until `detach`. */
export async function attach(
  pid: number,
  { calls, error, path }: { calls: DiskCall[]; error: string; path: string },
): Promise<{ detach(): Promise<void> }> {
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`];
  const tracer = startChild([
    ...[program, '-f', '-qq', '-o', '/dev/null', '-P', path, ...inject],
    ...['-p', String(pid)],
  ]);
  const what = `strace on every thread (${tracer.log()})`;
  await until(() => isTraced(pid), { what, timeoutMs: 5_000 });
  return {
    async detach() {
      await tracer.end('SIGTERM');
    },
  };
}

function isTraced(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const path = `/proc/${pid}/task/${thread}/status`;
    // A thread may end between the two looks.
    return !existsSync(path) || /TracerPid:\s+[1-9]/.test(readFileSync(path, 'utf8'));
  });
}
