import { SQL } from 'bun';
import { unavailable, WriteConflict } from '../refusals.ts';

/**
 * The connection has been lost or could not be opened. If a statement was running, its outcome is
 * unknown.
 */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** SQLSTATE codes that mean that the session has ended or the outcome is unknown. */
const sessionEnded = /^(080(?!01|06)|25P03|57P0|58|F0|XX|40003)/;
/** SQLSTATE codes that Citus reports if the coordinator cannot reach a worker. */
const partLost = /^080(01|06)/;

export const noPoolers = 'connection poolers are not supported';
const conflict = 'the write conflicted with concurrent writes';

/** Failures of the database, by SQLSTATE code. The failed statement stored nothing. */
const faults: [state: RegExp, fault: string][] = [
  [/^53100/, "the database server's disk is full"],
  [/^53300/, 'the database has no free connections'],
  [/^53/, 'the database is out of resources'],
  [/^25006/, 'the database is a standby or read-only'],
  [/^42501/, 'the database user lacks a privilege'],
  [/^55P03/, 'the database is busy with another write for the same user'],
  [/^57014/, 'the database canceled the statement'],
  [partLost, 'part of the database cannot be reached'],
  [/^08P01/, `the settings of the session were rejected; ${noPoolers}`],
  [/^(55000|57P03|08)/, 'the database is not accepting connections'],
  [/^(23505|40001|40P01)/, conflict],
  [/^28/, 'the database rejected the user name or password'],
  [/^3D000/, 'the database does not exist'],
];

/** Returns the SQLSTATE code of the error, or '' if the error does not come from the server. */
export function stateOf(error: unknown): string {
  return error instanceof SQL.PostgresError ? (error.errno ?? '') : '';
}

/** Whether the server rejected the statement, so that its transaction stores nothing. */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error);
  return state !== '' && !sessionEnded.test(state);
}

/** Whether a Citus worker was unreachable. The outcome of a COMMIT is then unknown. */
export function isPartLost(error: unknown): boolean {
  return partLost.test(stateOf(error));
}

/** Whether no server listens, or the server is starting or stopping. A retry may soon succeed. */
export function isStarting(error: unknown): boolean {
  if (!(error instanceof ConnectionLost)) return /^57P/.test(stateOf(error));
  const { cause } = error;
  return (
    cause instanceof Error &&
    'code' in cause &&
    /^ERR_POSTGRES_CONNECTION_/.test(String(cause.code))
  );
}

/** Whether the transaction conflicted with another, so that a retry may succeed. */
export function isConflict(error: unknown): boolean {
  return /^(23505|40001|40P01)$/.test(stateOf(error));
}

/** Whether another transaction held a lock on a row for longer than the lock timeout. */
export function isLocked(error: unknown): boolean {
  return stateOf(error) === '55P03';
}

/** Whether one write may have made its group fail. If so, the caller retries each write alone. */
export function isOfOneWrite(error: unknown): boolean {
  if (!isRefusal(error)) return false;
  if (isPartLost(error) || isConflict(error)) return true;
  return faultOf(error) === null || isLocked(error);
}

/** Whether the error means that no write can succeed. */
export function isWriteFault(error: unknown): boolean {
  return /^(53|25006)/.test(stateOf(error)) && !isLimitReached(error);
}

/** Whether the server accepts no new connections. The open connections still work. */
export function isLimitReached(error: unknown): boolean {
  return stateOf(error) === '53300';
}

/** Returns why the database cannot serve requests, or null if the error has another cause. */
export function faultOf(error: unknown): string | null {
  if (error instanceof ConnectionLost) return 'the database cannot be reached';
  if (error instanceof WriteConflict) return conflict;
  const state = stateOf(error);
  const known = faults.find(([pattern]) => pattern.test(state))?.[1];
  return known ?? (sessionEnded.test(state) ? 'the database cannot be reached' : null);
}

/** Maps an error that means that nothing was stored. */
export function notStored(error: unknown): unknown {
  const fault = faultOf(error);
  return fault === null ? error : unavailable(`${fault}; nothing was stored`, error);
}

export function notRead(error: unknown): unknown {
  const fault = faultOf(error);
  return fault === null ? error : unavailable(fault, error);
}

export function cannotOpen(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === null) return error;
  const detail = error instanceof Error ? `: ${error.message}` : '';
  return new Error(`${fault}${detail}`, { cause: error });
}
