import { SQLiteError } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';

/** Where a moment later may go better, as the caller should be told. */
const unavailable = new Map([
  ['SQLITE_FULL', 'the disk is full; nothing was stored'],
  ['SQLITE_BUSY', 'the database is busy; nothing was stored'],
  ['SQLITE_LOCKED', 'the database is busy; nothing was stored'],
]);

const retryAfterSeconds = 5;

/** SQLite's error as the service's own where the contract has words for it. */
export function asServiceError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code?.split('_').slice(0, 2).join('_') ?? '';
  const message = unavailable.get(code);
  if (message === undefined) return error;
  return new ServiceError('unavailable', message, { retryAfterSeconds, cause: error });
}

/** Whether another process holds the database for writing. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '');
}
