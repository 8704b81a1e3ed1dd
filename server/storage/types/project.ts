import type { MemoryStatus, MemoryType } from '../../../sdk/contract/memory.ts';

/** Identifies a user among those of all projects. */
export type UserRef = { projectId: number; userId: string };

export type UserPage = { users: UserRow[]; next: string | null };

export type UserRow = { userId: string; memories: number; bytes: number; lastCreatedAt: number };

/** The sums over a set of memories. */
export type Measurement = {
  users: number;
  memories: number;
  bytes: number;
  byType: Record<MemoryType, number>;
  byStatus: Record<MemoryStatus, number>;
  embedded: number;
  oldestAt: number | null;
  newestAt: number | null;
};

/** What is measured of a memory. `embedded` is 1 if its present text has vectors, or else 0. */
export type MeasuredMemory = {
  userId: string;
  type: MemoryType;
  status: MemoryStatus;
  bytes: number;
  embedded: number;
  createdAt: number;
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
