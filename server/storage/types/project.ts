import type { Stats } from '../../../sdk/contract/project.ts';
import type { StoredMemory } from './memories.ts';

/** Identifies a user among those of all projects. */
export type UserRef = { projectId: number; userId: string };

export type UserRow = { userId: string; memories: number; bytes: number; lastCreatedAt: number };

/** The sums over a set of memories. */
export type Measurement = Omit<Stats, 'pending' | 'failed' | 'oldestAt' | 'newestAt'> & {
  oldestAt: number | null;
  newestAt: number | null;
};

/** What is measured of a memory. `embedded` is 1 if its present text has vectors, or else 0. */
export type MeasuredMemory = Pick<StoredMemory, 'userId' | 'type' | 'status' | 'createdAt'> & {
  bytes: number;
  embedded: number;
};

/**
 * Reserves `amount` of the `limit` requests that a project may send in a window of `seconds`. A
 * window begins with the first call after the previous window ended, as measured by the database's
 * clock.
 */
export type QuotaRequest = { projectId: number; amount: number; limit: number; seconds: number };

/**
 * `granted` is at most the requested amount, and the grants of one window never exceed its limit.
 * `available` is what remains of the limit. `endsAt` identifies the window, which ends in
 * `endsInMs` milliseconds.
 */
export type QuotaGrant = { granted: number; available: number; endsAt: number; endsInMs: number };
