import type { StoredKey } from './keys.ts';

/** The result of one check by `memory doctor`. */
export type Finding = {
  name: string;
  level: 'ok' | 'warning' | 'failure';
  found: string;
  advice?: string;
};

export type BackupContents = { memories: number; bytes: number };

export type RevokedKey = Pick<StoredKey, 'id' | 'project' | 'name' | 'lastFour'>;

/** `memories` is the number of the user's memories in the backup. */
export type BroughtBackUser = { project: string; userId: string; memories: number };

export type Restored = BackupContents & {
  /** The new path of the replaced database, or null if no database existed. */
  kept: string | null;
  /** Keys that were revoked after the backup, and stay revoked. */
  revokedKeys: RevokedKey[];
  /** Users of whose memories in the backup none was left in the replaced database. */
  broughtBackUsers: BroughtBackUser[];
  /** Whether the restore erased these users again. */
  erasedAgain: boolean;
  /** Why the replaced database could not be checked for such keys and users, or null. */
  unchecked: string | null;
};
