import { existsSync } from 'node:fs';
import { readConfig } from './config.ts';
import { keyToStore, makeKey } from './keys.ts';
import { sqlitePath } from './storage/open.ts';
import {
  type BackupContents,
  backupDatabase,
  restoreDatabase,
} from './storage/sqlite/admin/backup.ts';
import { diagnose, type Finding } from './storage/sqlite/admin/doctor.ts';
import { openKeyAdmin } from './storage/sqlite/admin/keys.ts';
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

export type { BackupContents, Finding };

/** A consistent, checked copy of the database in `target`, while a server may go on writing. */
export async function backup(databaseUrl: string, target: string): Promise<BackupContents> {
  return backupDatabase(pathOf(databaseUrl), target);
}

/** Puts a backup in the database's place; `kept` is where the former one is now. */
export async function restore(
  databaseUrl: string,
  file: string,
): Promise<BackupContents & { kept: string | null }> {
  const stamp = new Date().toISOString().replace(/[:.]/g, '-');
  return restoreDatabase(file, pathOf(databaseUrl), stamp);
}

/** What is well with the database and what is not, with what to do about it. */
export async function doctor(databaseUrl: string): Promise<Finding[]> {
  return diagnose(pathOf(databaseUrl), Date.now());
}

function pathOf(databaseUrl: string): string {
  return sqlitePath(readConfig({ MEMORY_DATABASE_URL: databaseUrl }).databaseUrl);
}

/**
 * Opens the database; a server that runs on it sees changed keys within a second. Where there is
 * none it is made, or with `create: false` an Error says so: a mistyped path is not a new database.
 */
export async function openAdmin(
  databaseUrl: string,
  { create }: { create: boolean } = { create: true },
): Promise<Admin> {
  const path = pathOf(databaseUrl);
  if (!create && !existsSync(path)) throw new Error(`there is no database at ${path}`);
  const keys = openKeyAdmin(path);
  return {
    async createKey({ name, project, userId = null, readOnly = false, expiresAt = null }) {
      const key = makeKey();
      const about = { project, name, userId, readOnly, createdAt: Date.now(), expiresAt };
      const { id } = keys.createKey(keyToStore(key, about));
      return { key, id, project, name };
    },
    listKeys: async () => keys.listKeys(),
    revokeKey: async (id) => keys.revokeKey({ id, at: Date.now() }),
    close: async () => keys.close(),
  };
}
