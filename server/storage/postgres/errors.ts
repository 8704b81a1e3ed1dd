import { SQL } from 'bun';
import { unavailable } from '../refusals.ts';

/* Maps errors of the database and its connection to errors of the service. */

/** The connection was lost or could not be opened: the outcome of a statement is unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** SQLSTATE codes for an ended session or an unknown outcome. */
const sessionEnded = /^(080(?!01|06)|57P0|58|F0|XX|40003)/;
/** The coordinator of a cluster cannot reach a machine. */
const partLost = /^080(01|06)/;

/** Temporary failures of the database. The statement has stored nothing. */
const faults: [state: RegExp, fault: string][] = [
  [/^53100/, 'the disk of the database server is full'],
  [/^53300/, 'the database has no free connections'],
  [/^53/, 'the database is out of resources'],
  [/^25006/, 'the database is a standby or read-only'],
  [/^55P03/, 'the database is busy with another write of the same user'],
  [/^57014/, 'the database cancelled the statement'],
  [partLost, 'part of the database cannot be reached'],
  [/^(57P03|08)/, 'the database is not accepting connections'],
  [/^(40001|40P01)/, 'the write conflicted with concurrent writes'],
  [/^28/, 'the database rejected the user name or password'],
  [/^3D000/, 'the database does not exist'],
];

/** The server's SQLSTATE code, or '' if it sent none. */
export function stateOf(error: unknown): string {
  return error instanceof SQL.PostgresError ? (error.errno ?? '') : '';
}

/** The server rejected the statement, so its transaction stores nothing. */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error);
  return state !== '' && !sessionEnded.test(state);
}

/** A machine of a cluster was unreachable. If COMMIT failed with this, its outcome is unknown. */
export function isPartLost(error: unknown): boolean {
  return partLost.test(stateOf(error));
}

/** A conflict with another transaction: a retry may succeed. */
export function isConflict(error: unknown): boolean {
  return /^(23505|40001|40P01)$/.test(stateOf(error));
}

/** A group was rejected because of one of its writes: each is retried alone. */
export function isOfOneWrite(error: unknown): boolean {
  if (!isRefusal(error)) return false;
  if (isPartLost(error) || isConflict(error)) return true;
  return faultOf(error) === null || stateOf(error) === '55P03';
}

/** No write of any kind can succeed. */
export function isWriteFault(error: unknown): boolean {
  return /^(53|25006)/.test(stateOf(error));
}

/** Describes why the database cannot work; null if the error is not the database's fault. */
export function faultOf(error: unknown): string | null {
  if (error instanceof ConnectionLost) return 'the database cannot be reached';
  const state = stateOf(error);
  const known = faults.find(([pattern]) => pattern.test(state))?.[1];
  return known ?? (sessionEnded.test(state) ? 'the database cannot be reached' : null);
}

/** An error before COMMIT was sent, or a rejection by the server: nothing was stored. */
export function notStored(error: unknown): unknown {
  const fault = faultOf(error);
  return fault === null ? error : unavailable(`${fault}; nothing was stored`, error);
}

/** The error of a read that failed. */
export function notRead(error: unknown): unknown {
  const fault = faultOf(error);
  return fault === null ? error : unavailable(fault, error);
}

/** Why a database cannot be used at all, for the person who starts the program. */
export function cannotOpen(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === null) return error;
  const detail = error instanceof Error ? `: ${error.message}` : '';
  return new Error(`${fault}${detail}`, { cause: error });
}
