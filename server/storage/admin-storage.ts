import type { NewKey, StoredKey } from './storage.ts';

/* What an administrator does on the database itself, beside running servers or without one. */

/** API keys; see the operations of the same names in storage.ts. */
export type KeyAdmin = {
  createKey(key: NewKey): StoredKey | Promise<StoredKey>;
  listKeys(): StoredKey[] | Promise<StoredKey[]>;
  revokeKey(revoked: { id: string; at: number }): boolean | Promise<boolean>;
  close(): void;
};

/** One thing that was looked at; `advice` says what to do about it. */
export type Finding = {
  name: string;
  level: 'ok' | 'warning' | 'failure';
  found: string;
  advice?: string;
};

/** What a backup holds. */
export type BackupContents = { memories: number; bytes: number };

/** `kept` is where the database is that was there before. */
export type Restored = BackupContents & { kept: string | null };
