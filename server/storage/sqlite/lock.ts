import { Database } from 'bun:sqlite';
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isReadOnly, openFault } from './access.ts';
import { isBusy } from './errors.ts';
import { shareWithOwner } from './owner.ts';

export type Lock = { release(): void };

/**
 * Locks the database against other servers. Commands that may run alongside a server, such as a
 * backup, do not acquire this lock.
 */
export function lockDatabase(path: string, advice: string): Lock {
  // On a read-only file system, several servers may read. A server that writes to the file through
  // another mount holds the exclusive lock.
  const shared = isReadOnly(dirname(path));
  if (shared && !existsSync(`${path}.lock`)) return { release() {} };
  const lock = tryLock(`${path}.lock`, path, { shared });
  if (lock !== null) return { release: () => lock.close(true) };
  throw new Error(`a server is already using ${path}. ${advice}`);
}

/** Whether a server uses the database. Null if a server may read it on a read-only file system. */
export function isLocked(path: string): boolean | null {
  const shared = isReadOnly(dirname(path));
  const otherwise = shared ? null : false;
  if (!existsSync(`${path}.lock`)) return otherwise;
  using lock = tryLock(`${path}.lock`, path, { shared });
  return lock === null ? true : otherwise;
}

/** How long to wait for the lock. A restore holds the lock while it checkpoints the WAL. */
const movingPatienceMs = 10_000;

/**
 * Opens a database while preventing a restore from moving its files, whether or not a server is
 * running. Otherwise, a process could open the old file with the WAL of the new file, and apply
 * that WAL to the old file. After the first read, SQLite's own lock blocks a restore.
 */
export function openUnmoved<T>(path: string, open: () => T): T {
  if (isReadOnly(dirname(path))) return open();
  using lock = tryLock(movingAt(path), path, { shared: true, patienceMs: movingPatienceMs });
  if (lock === null)
    throw new Error(`a restore is replacing ${path}; try again when it has finished`);
  return open();
}

/** Blocks `openUnmoved` in all processes until disposed. */
export function lockForMoving(path: string): Disposable {
  const lock = tryLock(movingAt(path), path, { patienceMs: movingPatienceMs });
  if (lock !== null) return lock;
  throw new Error(`another command is opening ${path}; try again when it has finished`);
}

/** Not the server's lock file, because admin commands may run while a server holds that lock. */
function movingAt(path: string): string {
  return `${path}.restore-lock`;
}

type How = { shared?: boolean; patienceMs?: number };

/**
 * Locks `file` and creates it, if necessary, for the owner of the file at `path`. Returns null if
 * another process still holds the lock after `patienceMs`. The operating system releases the lock
 * when the process exits.
 */
export function tryLock(file: string, path: string, how: How = {}): Database | null {
  // mutate-ignore constant: waits for a millisecond
  const { shared = false, patienceMs = 0 } = how;
  let lock: Database | undefined;
  try {
    lock = new Database(file, { create: true });
    shareWithOwner(file, path);
    // Without write access, SQLite would silently take a shared lock.
    if (!shared) accessSync(file, constants.W_OK);
    lock.run(`PRAGMA busy_timeout = ${patienceMs}`);
    // An exclusive transaction on an empty file begins a journal. A full disk has no space for it.
    lock.run('PRAGMA journal_mode = memory');
    lock.run(shared ? 'BEGIN' : 'BEGIN EXCLUSIVE');
    // BEGIN alone acquires no lock; the first read acquires the shared lock.
    if (shared) lock.run('SELECT 1 FROM sqlite_schema');
    return lock;
  } catch (error) {
    lock?.close(true);
    if (isBusy(error)) return null;
    throw new Error(`${file} cannot be used: ${openFault(file, error)}`, {
      cause: error,
    });
  }
}
