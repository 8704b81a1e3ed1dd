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
