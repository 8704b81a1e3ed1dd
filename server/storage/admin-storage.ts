import type { NewKey, StoredKey } from './storage.ts';

/* Administrative operations that access the database directly instead of through a server. */

/** API key operations, as described in storage.ts. */
export type KeyAdmin = {
  createKey(key: NewKey): StoredKey | Promise<StoredKey>;
  listKeys(): StoredKey[] | Promise<StoredKey[]>;
  revokeKey(revoked: { id: string; at: number }): boolean | Promise<boolean>;
  close(): void;
};

/** The result of one check by `memory doctor`. `advice` is how to fix the problem. */
export type Finding = {
  name: string;
  level: 'ok' | 'warning' | 'failure';
  found: string;
  advice?: string;
};

/** The number of memories in a backup, and its size. */
export type BackupContents = { memories: number; bytes: number };

/** `kept` is the new path of the replaced database, or null if there was none. */
export type Restored = BackupContents & { kept: string | null };
