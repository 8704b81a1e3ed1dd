import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../support/process.ts';
import { sh } from './mounts.ts';
import { attach, type DiskCall, straceMissing } from './strace.ts';
import type { Target } from './target.ts';

/** A reason for which writes fail. */
export type Fault = {
  name: string;
  /** Why it cannot be made here, or null. */
  missing(target: Target): string | null;
  /** Resolves once it is in force, with what ends it. */
  begin(target: Target): Promise<() => Promise<unknown>>;
};

const logOf = ({ path }: Target) => `${path}-wal`;
const writes: DiskCall[] = ['pwrite64'];
const syncs: DiskCall[] = ['fsync', 'fdatasync'];

/** The last two are of the full tier. */
export const faults: Fault[] = [
  injected('EIO', syncs),
  injected('EROFS', writes),
  injected('EDQUOT', writes),
  injected('ENOSPC', writes),
  locked(),
  immutable(),
  injected('EIO', writes),
  injected('ENOSPC', syncs),
];

function injected(error: string, calls: DiskCall[]): Fault {
  return {
    name: `${error} of ${calls.join(' and ')}`,
    missing: straceMissing,
    async begin(target) {
      const { detach } = await attach(target.pid, { calls, error, path: logOf(target) });
      return detach;
    },
  };
}

const holder = join(import.meta.dir, 'traffic/holder.ts');

/** Another process is in a transaction that excludes all others. */
function locked(): Fault {
  return {
    name: 'locked by another process',
    missing: () => null,
    async begin({ path }) {
      const child = startChild([process.execPath, holder, path]);
      await child.ready;
      return () => child.end('SIGKILL');
    },
  };
}

/** The log may not be changed, by order of an administrator: EPERM. */
function immutable(): Fault {
  const set = (flag: '+i' | '-i', path: string) => sh('chattr', flag, path);
  return {
    name: 'the log made immutable',
    missing(target) {
      try {
        for (const flag of ['+i', '-i'] as const) set(flag, target.path);
        return null;
      } catch (error) {
        return String(error);
      }
    },
    async begin(target) {
      set('+i', logOf(target));
      return async () => existsSync(logOf(target)) && set('-i', logOf(target));
    },
  };
}
