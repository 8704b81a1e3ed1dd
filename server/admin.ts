import { readConfig } from './config.ts';
import { keyToStore, makeKey } from './keys.ts';
import type { BackupContents, Finding, Restored } from './storage/admin-storage.ts';
import { type Comparison, compare, copyRows, type ReportRows } from './storage/copy/copy.ts';
import {
  backupDatabase,
  diagnose,
  openCopySides,
  openKeyAdmin,
  restoreDatabase,
} from './storage/open.ts';
import type { StoredKey } from './storage/storage.ts';

/** Administration of the database itself, whether or not a server is running on it. */
export type Admin = {
  /** The key is in this answer and nowhere else. `expiresAt` is in milliseconds since 1970. */
  createKey(request: {
    name: string;
    project: string;
    userId?: string | null;
    readOnly?: boolean;
    expiresAt?: number | null;
  }): Promise<{ key: string; id: string; project: string; name: string }>;
  listKeys(): Promise<StoredKey[]>;
  /** False where there is no such key, or it was revoked before. */
  revokeKey(id: string): Promise<boolean>;
  close(): Promise<void>;
};

export type { BackupContents, Comparison, Finding };

/** A consistent, checked copy of the database in `target`, while a server may go on writing. */
export async function backup(databaseUrl: string, target: string): Promise<BackupContents> {
  return backupDatabase(checked(databaseUrl), target);
}

/** Puts a backup in the database's place; `kept` is where the former one is now. */
export async function restore(databaseUrl: string, file: string): Promise<Restored> {
  const stamp = new Date().toISOString().replace(/[:.]/g, '-');
  return restoreDatabase(checked(databaseUrl), file, stamp);
}

/** What is well with the database and what is not, with what to do about it. */
export async function doctor(databaseUrl: string): Promise<Finding[]> {
  return diagnose(checked(databaseUrl), Date.now());
}

/**
 * Copies a database to an empty one of the other backend, or continues an unfinished copy, and
 * compares the two; with `copies: false` it only compares. No server starts on a target that is not
 * equal. Throws an Error that says what to do if a server runs on either database, or if the target
 * holds something else.
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
    if (copies && isEqual) await target.finish(await source.sourceId());
    return { copiedRows, isEqual, items };
  } finally {
    source.close();
    target.close();
  }
}

/** Held to the same rules as the setting of the server. */
function checked(databaseUrl: string): string {
  return readConfig({ MEMORY_DATABASE_URL: databaseUrl }).databaseUrl;
}

/**
 * Opens the database; a server that runs on it sees changed keys within a second. Where there is
 * none it is made, or with `create: false` an Error says so: a mistyped path is not a new database.
 */
export async function openAdmin(
  databaseUrl: string,
  { create }: { create: boolean } = { create: true },
): Promise<Admin> {
  const keys = await openKeyAdmin(checked(databaseUrl), { create });
  return {
    async createKey({ name, project, userId = null, readOnly = false, expiresAt = null }) {
      const key = makeKey();
      const about = { project, name, userId, readOnly, createdAt: Date.now(), expiresAt };
      const { id } = await keys.createKey(keyToStore(key, about));
      return { key, id, project, name };
    },
    listKeys: async () => keys.listKeys(),
    revokeKey: async (id) => keys.revokeKey({ id, at: Date.now() }),
    close: async () => keys.close(),
  };
}
