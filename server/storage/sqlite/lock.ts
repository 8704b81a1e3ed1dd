import { Database } from 'bun:sqlite';
import { chownSync, existsSync, statSync } from 'node:fs';
import { isBusy } from './errors.ts';

export type Lock = { release(): void };

/**
 * Holds the database for this server alone, until released or the process ends, however it ends:
 * the operating system drops the lock with the process. Admin commands do not take it.
 */
export function lockDatabase(path: string, advice: string): Lock {
  const lock = tryLock(`${path}.lock`, path);
  if (lock !== null) return { release: () => lock.close(true) };
  throw new Error(`a server is already running on ${path}. ${advice}`);
}

/** Whether a server holds the database now. */
export function isLocked(path: string): boolean {
  if (!existsSync(`${path}.lock`)) return false;
  const lock = tryLock(`${path}.lock`, path);
  lock?.close(true);
  return lock === null;
}

/** An opening takes milliseconds; what a restore holds up takes as long as the log is. */
const movingPatienceMs = 10_000;

/**
 * Opens a database, with or without a running server, while no restore moves its files: who has the
 * old file and opens its log by name would get the new one's, and write that into the old file.
 * Once the database has been read, SQLite's own lock keeps a restore away.
 */
export function openInPlace<T>(path: string, open: () => T): T {
  const lock = tryLock(movingAt(path), path, { shared: true, patienceMs: movingPatienceMs });
  if (lock === null) throw new Error(`a restore is replacing ${path}; try again when it has ended`);
  try {
    return open();
  } finally {
    lock.close(true);
  }
}

/** Keeps everybody from opening the database by `openInPlace` until released. */
export function lockForMoving(path: string): Lock {
  const lock = tryLock(movingAt(path), path, { patienceMs: movingPatienceMs });
  if (lock !== null) return { release: () => lock.close(true) };
  throw new Error(`another command is opening ${path}; try again when it has ended`);
}

/** Not the server's: commands go on beside it. */
function movingAt(path: string): string {
  return `${path}.restore-lock`;
}

type How = { shared?: boolean; patienceMs?: number };

/** The lock, or null where another process has it. */
function tryLock(file: string, path: string, how: How = {}): Database | null {
  const { shared = false, patienceMs = 0 } = how;
  const lock = new Database(file, { create: true });
  try {
    shareWithOwner(file, path);
    lock.run(`PRAGMA busy_timeout = ${patienceMs}`);
    lock.run(shared ? 'BEGIN' : 'BEGIN EXCLUSIVE');
    // Only a read takes the shared lock.
    if (shared) lock.run('SELECT 1 FROM sqlite_schema');
    return lock;
  } catch (error) {
    lock.close(true);
    if (isBusy(error)) return null;
    throw new Error(`${file} cannot be used; is the disk full, or the folder read-only?`, {
      cause: error,
    });
  }
}

/** Gives a file that root creates next to a database to the database's owner, as SQLite does. */
function shareWithOwner(file: string, path: string): void {
  const database = statSync(path, { throwIfNoEntry: false });
  if (process.getuid?.() !== 0 || database === undefined) return;
  try {
    chownSync(file, database.uid, database.gid);
  } catch {
    // A root without CAP_CHOWN, as in some containers: its files have no other owner anyway.
  }
}
