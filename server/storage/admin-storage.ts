import type { Storage } from './storage.ts';

export type KeyAdmin = Pick<Storage, 'createKey' | 'listKeys' | 'revokeKey'> & { close(): void };

/** The result of one check by `memory doctor`. */
export type Finding = {
  name: string;
  level: 'ok' | 'warning' | 'failure';
  found: string;
  advice?: string;
};

export type BackupContents = { memories: number; bytes: number };

/** `kept` is the new path of the replaced database, or null if no database existed. */
export type Restored = BackupContents & { kept: string | null };
