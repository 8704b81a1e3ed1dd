import { SQLiteError } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';

/** Where a moment later may go better, as the caller should be told. */
const unavailable = new Map([
  ['SQLITE_FULL', 'the disk is full; nothing was stored'],
  ['SQLITE_BUSY', 'the database is busy; nothing was stored'],
  ['SQLITE_LOCKED', 'the database is busy; nothing was stored'],
]);

/** The disk's or the file's fault, and not that of what was to be stored. */
const ofDisk = new Set(['SQLITE_IOERR', 'SQLITE_CORRUPT', 'SQLITE_CANTOPEN', 'SQLITE_READONLY']);
const unknownOutcome =
  'the database met a fault and the outcome is unknown; retry with the same Idempotency-Key';

export const retryAfterSeconds = 5;

/** SQLite's error as the service's own where the contract has words for it. */
export function asServiceError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code?.split('_').slice(0, 2).join('_') ?? '';
  const message = unavailable.get(code);
  if (message !== undefined) {
    return new ServiceError('unavailable', message, { retryAfterSeconds, cause: error });
  }
  return ofDisk.has(code) ? outcomeUnknown(error) : error;
}

/* What an operator is told. */
export const diskFull = 'the disk is full; nothing is stored until there is room';
export const logUnsynced =
  'the disk does not take what is written; nothing is stored until it does';
export const fileUnsynced =
  'the disk did not take the database file; look at the disk, then start the service anew: until ' +
  'then all is stored, but the log only grows';

/** What was to be stored may be there after a restart, or not. */
export function outcomeUnknown(cause: unknown): ServiceError {
  return new ServiceError('internal', unknownOutcome, { cause });
}

/** Whether the file itself is broken, and not only out of reach. */
export function isDamage(error: unknown): error is SQLiteError {
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '');
}

/** Whether there is no room for what was to be written. */
export function isFull(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === 'SQLITE_FULL';
}

/** Whether another process holds the database, also where that is the cause of an error of ours. */
export function isBusy(error: unknown): boolean {
  if (error instanceof SQLiteError) return /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '');
  return error instanceof Error && isBusy(error.cause);
}

/** Whether the disk did not take what was written. The system may count it as written all the same,
 * and the next sync would succeed and mean nothing. */
export function isSyncFault(error: unknown): boolean {
  if (error instanceof SQLiteError) return error.code === 'SQLITE_IOERR_FSYNC';
  return error instanceof Error && 'syscall' in error && error.syscall === 'fdatasync';
}
