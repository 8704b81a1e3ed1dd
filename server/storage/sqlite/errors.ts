import { SQLiteError } from 'bun:sqlite';
import { outcomeUnknown, unavailable } from '../refusals.ts';

/* What SQLite's errors mean for the service. */

/** Of these nothing was stored, and a moment later it may work. */
const temporary = new Map([
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_BUSY', 'the database is locked by another program'],
  ['SQLITE_LOCKED', 'the database is locked by another program'],
]);

/** The fault of the disk or the file, and not of what was to be stored. */
const ofDisk = new Map([
  ['SQLITE_IOERR', 'the disk reports an error'],
  ['SQLITE_CORRUPT', 'the database is damaged'],
  ['SQLITE_NOTADB', 'the database is damaged'],
  ['SQLITE_CANTOPEN', 'the database file cannot be opened'],
  ['SQLITE_READONLY', 'the database is read-only'],
  ['SQLITE_PERM', 'the database file may not be accessed'],
  ['SQLITE_NOMEM', 'the process is out of memory'],
]);

/** The primary result code: SQLITE_IOERR for SQLITE_IOERR_FSYNC. */
function primaryCode(error: unknown): string {
  if (!(error instanceof SQLiteError)) return '';
  return error.code?.split('_').slice(0, 2).join('_') ?? '';
}

/** Why the database cannot work, in words; null for an error that is not the database's fault. */
export function faultOf(error: unknown): string | null {
  const code = primaryCode(error);
  return temporary.get(code) ?? ofDisk.get(code) ?? null;
}

/** SQLite's error, from before COMMIT, as the service's own. Nothing was stored. */
export function notStored(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === null) return error;
  return unavailable(`${fault}; nothing was stored`, error);
}

/** An error of COMMIT. A full or locked database says so before it writes anything. */
export function notCommitted(error: unknown): unknown {
  const code = primaryCode(error);
  return temporary.has(code) ? notStored(error) : outcomeUnknown(error);
}

/** A read that the database could not answer. */
export function notRead(error: unknown): unknown {
  const fault = faultOf(error);
  return fault === null ? error : unavailable(fault, error);
}

/** Whether the file itself is broken, and not only out of reach. */
export function isDamage(error: unknown): error is SQLiteError {
  return /^SQLITE_(CORRUPT|NOTADB)$/.test(primaryCode(error));
}

/** Whether another process holds the database, also where that is the cause of an error of ours. */
export function isBusy(error: unknown): boolean {
  if (error instanceof SQLiteError) return /^SQLITE_(BUSY|LOCKED)$/.test(primaryCode(error));
  return error instanceof Error && isBusy(error.cause);
}

/** Whether the disk did not take what was written to it. */
export function isSyncFault(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === 'SQLITE_IOERR_FSYNC';
}
