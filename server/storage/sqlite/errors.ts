import { SQLiteError } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';
import { outcomeUnknown, unavailable } from '../refusals.ts';

/** Errors that mean that nothing was stored and a retry may succeed. */
const temporary = new Map([
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_BUSY', 'the database is locked by another program'],
  ['SQLITE_LOCKED', 'the database is locked by another program'],
]);

/** Errors caused by the disk, the file or the process, not by the data to store. */
const ofDisk = new Map([
  ['SQLITE_IOERR', 'the disk reported an error'],
  ['SQLITE_CORRUPT', 'the database is damaged'],
  ['SQLITE_NOTADB', 'the database is damaged'],
  ['SQLITE_CANTOPEN', 'the database file cannot be opened'],
  ['SQLITE_READONLY', 'the database is read-only'],
  ['SQLITE_PERM', 'the process has no permission to access the database file'],
  ['SQLITE_NOMEM', 'the process is out of memory'],
]);

function primaryCode(error: unknown): string {
  if (!(error instanceof SQLiteError)) return '';
  return error.code?.split('_').slice(0, 2).join('_') ?? '';
}

/** Returns why the database cannot serve requests, or null if the error has another cause. */
export function faultOf(error: unknown): string | null {
  const code = primaryCode(error);
  return temporary.get(code) ?? ofDisk.get(code) ?? null;
}

/** Maps an error that occurred before COMMIT. Nothing was stored. */
export function notStored(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === null) return error;
  return unavailable(`${fault}; nothing was stored`, error);
}

/**
 * Maps an error from COMMIT. SQLite detects a full disk or a lock before it writes the commit.
 * After any other error, the outcome is unknown.
 */
export function notCommitted(error: unknown): unknown {
  const code = primaryCode(error);
  return temporary.has(code) ? notStored(error) : outcomeUnknown(error);
}

/** Maps an error of a write that has paused: earlier parts of it may be stored. */
export function notCompleted(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'unavailable') return error;
  const message = 'the database failed and the write is incomplete; retry to complete it';
  return unavailable(message, error);
}

export function notRead(error: unknown): unknown {
  const fault = faultOf(error);
  return fault === null ? error : unavailable(fault, error);
}

/** Whether the file itself is damaged, rather than temporarily inaccessible. */
export function isDamage(error: unknown): error is SQLiteError {
  return /^SQLITE_(CORRUPT|NOTADB)$/.test(primaryCode(error));
}

export function isFull(error: unknown): boolean {
  return primaryCode(error) === 'SQLITE_FULL';
}

export function cannotBeOpened(error: unknown): boolean {
  return primaryCode(error) === 'SQLITE_CANTOPEN';
}

/** Whether the error or its cause means that another process has locked the database. */
export function isBusy(error: unknown): boolean {
  if (error instanceof SQLiteError) return /^SQLITE_(BUSY|LOCKED)$/.test(primaryCode(error));
  return error instanceof Error && isBusy(error.cause);
}

/** Whether the disk has no space for the `-shm` file. SQLite reports only an I/O error. */
export function isShmFault(error: unknown): boolean {
  if (error instanceof SQLiteError) return error.code === 'SQLITE_IOERR_SHMSIZE';
  return error instanceof Error && isShmFault(error.cause);
}

export function isSyncFault(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === 'SQLITE_IOERR_FSYNC';
}
