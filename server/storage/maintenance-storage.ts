import type { UserRef } from './project-storage.ts';

export interface MaintenanceStorage {
  /**
   * Runs one bounded step of the periodic cleanup, which deletes expired memories and old
   * idempotency keys. `elapsedMs` is the time since the last call, measured by a monotonic clock. A
   * key is deleted only if it is old by both the wall clock and the sum of these times, so a jump
   * of the wall clock cannot delete a key early.
   */
  maintain(run: { now: number; elapsedMs: number }): Promise<MaintenanceReport>;

  /**
   * Stores the search index of the next user after this one who has many changes since the last
   * time, so that the user's first search is fast. Returns the user, or null if none is left.
   */
  storeNextSnapshot(after: UserRef | null): Promise<UserRef | null>;

  /** Runs a slow, thorough integrity check. Returns the damage, or an empty array. */
  findDamage(): Promise<string[]>;

  /** Reports why writes fail, if they do, and any warning for the operator. Never throws. */
  health(): Promise<StorageHealth>;

  /** Returns the size of the database and the time of its last backup. */
  figures(): Promise<StorageFigures>;
}

export type MaintenanceReport = {
  expiredMemories: number;
  expiredKeys: number;
  /** Whether to call `maintain` again immediately. */
  more: boolean;
};

/** `fault` is the reason that writes fail. `warning` is a problem that does not affect writes. */
export type StorageHealth = { fault: string | null; warning: string | null };

/** Null stands for what only SQLite has, and for a database that has never been backed up. */
export type StorageFigures = {
  databaseBytes: number;
  /** The size of the write-ahead log. */
  logBytes: number | null;
  /** When `memory backup` last succeeded. */
  lastBackupAt: number | null;
};
