import { existsSync } from 'node:fs';

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
