import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { isBusy } from './faults.ts';

/**
 * Holds the database for this server alone, until released or the process ends, however it ends:
 * the operating system drops the lock with the process. Admin commands do not take it.
 */
export function lockDatabase(path: string, advice: string): { release(): void } {
  const lock = tryLock(path);
  if (lock !== null) return { release: () => lock.close(false) };
  throw new Error(`a server is already running on ${path}. ${advice}`);
}

/** Whether a server holds the database now. */
export function isLocked(path: string): boolean {
  if (!existsSync(`${path}.lock`)) return false;
  const lock = tryLock(path);
  lock?.close(false);
  return lock === null;
}

/** The lock, or null where another process has it. */
function tryLock(path: string): Database | null {
  const lock = new Database(`${path}.lock`, { create: true });
  try {
    lock.run('PRAGMA busy_timeout = 0');
    lock.run('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close(false);
    if (isBusy(error)) return null;
    throw new Error(`${path}.lock cannot be used; is the disk full, or the folder read-only?`, {
      cause: error,
    });
  }
}
