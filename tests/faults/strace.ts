import { existsSync } from 'node:fs';

const program = '/usr/bin/strace';

/** Why system calls cannot be tampered with here, or null. */
export function straceMissing(): string | null {
  if (process.platform !== 'linux') return 'strace needs Linux';
  if (!existsSync(program)) return `${program} is not installed`;
  const tried = Bun.spawnSync([program, '-f', '-qq', '-o', '/dev/null', 'true']);
  return tried.exitCode === 0 ? null : 'strace may not trace here (ptrace is not permitted)';
}

/** SQLite syncs by fsync, the writer by fdatasync. */
export type DiskCall = 'fsync' | 'fdatasync' | 'pwrite64';

/** Runs a command so that `what` happens to the system call, such as `signal=KILL:when=3`. */
export function tampering(call: DiskCall, what: string): string[] {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:${what}`];
  return [program, '-f', '-qq', '-o', '/dev/null', ...inject];
}
