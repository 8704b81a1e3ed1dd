import { readConfig, sqlitePath } from './config.ts';
import { keyToStore, makeKey } from './keys.ts';
import { openSqlite } from './storage/sqlite/open.ts';
import type { StoredKey } from './storage/storage.ts';

/** What an administrator does on the database itself, beside a running server or without one. */
export type Admin = {
  /** The key is in this answer and nowhere else. `expiresAt` is in milliseconds since 1970. */
  createKey(request: {
    name: string;
    project: string;
    expiresAt?: number | null;
  }): Promise<{ key: string; id: string; project: string; name: string }>;
  listKeys(): Promise<StoredKey[]>;
  /** False where there is no such key, or it was revoked before. */
  revokeKey(id: string): Promise<boolean>;
  close(): Promise<void>;
};

/** Opens the database; a server that runs on it sees changed keys within a second. */
export async function openAdmin(databaseUrl: string): Promise<Admin> {
  const config = readConfig({ MEMORY_DATABASE_URL: databaseUrl });
  const storage = openSqlite(sqlitePath(config.databaseUrl), { exclusive: false });
  return {
    async createKey({ name, project, expiresAt = null }) {
      const key = makeKey();
      const about = { project, name, createdAt: Date.now(), expiresAt };
      const { id } = await storage.createKey(keyToStore(key, about));
      return { key, id, project, name };
    },
    listKeys: () => storage.listKeys(),
    revokeKey: (id) => storage.revokeKey(id, Date.now()),
    close: () => storage.close(),
  };
}
