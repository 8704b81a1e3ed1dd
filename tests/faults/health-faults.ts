import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../support/process.ts';
import { sh } from './mounts.ts';
import { attach, type DiskCall, straceMissing } from './strace.ts';
import type { Target } from './target.ts';

/** A reason why writes fail. */
export type Fault = {
  name: string;
  /** Returns why the fault cannot be injected on this machine, or null if it can. */
  missing(target: Target): string | null;
  /** Injects the fault. Resolves with a function that removes the fault. */
  begin(target: Target): Promise<() => Promise<unknown>>;
};

const walOf = ({ path }: Target) => `${path}-wal`;
const writes: DiskCall[] = ['pwrite64'];
const syncs: DiskCall[] = ['fsync', 'fdatasync'];

/** The quick tier uses the first six. */
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
    name: `${error} from ${calls.join(' and ')}`,
    missing: straceMissing,
    async begin(target) {
      const { detach } = await attach(target.pid, { calls, error, path: walOf(target) });
      return detach;
    },
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
