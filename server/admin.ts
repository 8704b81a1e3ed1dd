import { readConfig } from './config.ts';
import { keyToStore, makeKey } from './http/keys.ts';
import type { BackupContents, Finding, Restored } from './storage/admin-storage.ts';
import {
  type Comparison,
  compare,
  copyRows,
  finishCopy,
  type ReportRows,
} from './storage/copy/copy.ts';
import type { StoredKey } from './storage/key-storage.ts';
import {
  backupDatabase,
  diagnose,
  openCopySides,
  openKeyAdmin,
  restoreDatabase,
  storeBackupTime as storeTime,
} from './storage/open.ts';

/** Administers the database, with or without a running server. */
export type Admin = {
  /** Returns the new key, which cannot be read again. `expiresAt` is in milliseconds since 1970. */
  createKey(request: {
    name: string;
    project: string;
    userId?: string | null;
    readOnly?: boolean;
    /** Whether the key can only read the metrics. */
    metricsOnly?: boolean;
    expiresAt?: number | null;
  }): Promise<{ key: string; id: string; project: string; name: string }>;
  listKeys(): Promise<StoredKey[]>;
  /** Returns false if the key does not exist or was already revoked. */
  revokeKey(id: string): Promise<boolean>;
  close(): Promise<void>;
};

export type { BackupContents, Comparison, Finding, Restored };

/** Writes a consistent, verified copy of the database to `target`. The server can keep running. */
export async function backup(databaseUrl: string, target: string): Promise<BackupContents> {
  return backupDatabase(checked(databaseUrl), target);
}

/** Stores in the database that a backup has just been delivered. */
export async function storeBackupTime(databaseUrl: string): Promise<void> {
  await storeTime(checked(databaseUrl), Date.now());
}

/**
 * Replaces the database with a backup. With `eraseAgain`, erases the users of whose memories in the
 * backup none was left.
 */
export async function restore(
  databaseUrl: string,
  file: string,
  { eraseAgain }: { eraseAgain: boolean },
): Promise<Restored> {
  const now = new Date();
  const stamp = now.toISOString().replace(/[:.]/g, '-');
  const options = { stamp, now: now.getTime(), eraseAgain };
  return restoreDatabase(checked(databaseUrl), file, options);
}

/** Checks the database without changing it. A server may be running. */
export async function doctor(databaseUrl: string): Promise<Finding[]> {
  return diagnose(checked(databaseUrl), Date.now());
}

/**
 * Copies a database to an empty database of the other backend, or resumes an unfinished copy, and
 * then compares the two databases. With `copies: false`, only compares them. Throws an Error with
 * advice if a server is running or the target contains other data.
 */
export async function migrate(
  from: string,
  to: string,
  {
    copies,
    onCopied,
    onCompared,
  }: { copies: boolean; onCopied: ReportRows; onCompared: ReportRows },
): Promise<{ copiedRows: number; isEqual: boolean; items: Comparison[] }> {
  const [source, target] = await openCopySides(checked(from), checked(to), { create: copies });
  try {
    const copiedRows = copies ? await copyRows(source, target, onCopied) : 0;
    const items = await compare(source, target, onCompared);
    const isEqual = items.every((item) => item.isEqual);
    if (copies && isEqual) await finishCopy(source, target);
    return { copiedRows, isEqual, items };
  } finally {
    source.close();
    target.close();
  }
}

/** Validates a database URL by the rules for the MEMORY_DATABASE_URL setting. */
function checked(databaseUrl: string): string {
  return readConfig({ MEMORY_DATABASE_URL: databaseUrl }).databaseUrl;
}

/**
 * Opens the database and creates it if it does not exist. With `create: false`, throws an Error if
 * the database does not exist, so that a mistyped path does not create one.
 */
export async function openAdmin(
  databaseUrl: string,
  { create }: { create: boolean } = { create: true },
): Promise<Admin> {
  const keys = await openKeyAdmin(checked(databaseUrl), { create });
  return {
    async createKey({ name, project, ...limits }) {
      const key = makeKey();
      const { userId = null, readOnly = false, metricsOnly = false, expiresAt = null } = limits;
      const kind = { userId, readOnly, metricsOnly };
      const about = { project, name, ...kind, createdAt: Date.now(), expiresAt };
      const { id } = await keys.createKey(keyToStore(key, about));
      return { key, id, project, name };
    },
    listKeys: () => keys.listKeys(),
    revokeKey: (id) => keys.revokeKey({ id, at: Date.now() }),
    close: async () => keys.close(),
  };
}
