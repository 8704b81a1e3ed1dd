import type { NewKey, StoredKey } from './storage.ts';

export type KeyAdmin = {
  createKey(key: NewKey): StoredKey | Promise<StoredKey>;
  listKeys(): StoredKey[] | Promise<StoredKey[]>;
  revokeKey(revoked: { id: string; at: number }): boolean | Promise<boolean>;
  close(): void;
};

/** The result of one check by `memory doctor`. */
export type Finding = {
  name: string;
  level: 'ok' | 'warning' | 'failure';
  found: string;
  advice?: string;
};

export type BackupContents = { memories: number; bytes: number };

/** `kept` is the new path of the replaced database, or null if there was none. */
export type Restored = BackupContents & { kept: string | null };
