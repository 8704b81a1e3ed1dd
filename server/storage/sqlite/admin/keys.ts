import type { Database } from 'bun:sqlite';
import type { KeyAdmin } from '../../admin-storage.ts';
import { createKey, listKeys, revokeKey } from '../../operations/keys.ts';
import { openUnmoved } from '../lock.ts';
import { assertFinished, migrate } from '../migrate.ts';
import { assertExists, canonicalPath } from '../path.ts';
import { applySetting, closeKeepingLog, keepFilesPrivate, openForWriting } from '../settings.ts';
import { createAlone, createTx } from '../transaction.ts';

/** Opens the database file. If it does not exist, creates it if `create` is true, else throws. */
export function openKeyAdmin(name: string, { create }: { create: boolean }): KeyAdmin {
  if (!create) assertExists(name);
  keepFilesPrivate();
  const path = canonicalPath(name);
  const db = openUnmoved(path, () => openMigrated(path));
  const writeAlone = createAlone(db);
  const tx = createTx(db);
  return {
    createKey: (key) => writeAlone(createKey, key),
    listKeys: () => listKeys.run(tx, undefined),
    revokeKey: (revoked) => writeAlone(revokeKey, revoked),
    // Keep the WAL. A server checkpoints it later.
    close: () => closeKeepingLog(path, db),
  };
}

function openMigrated(path: string): Database {
  const db = openForWriting(path, { create: true });
  try {
    // After a failed sync, a server makes no checkpoint, and this command must not make one either.
    applySetting(db, 'wal_autocheckpoint', 0);
    migrate(db, path);
    assertFinished(db, path);
    return db;
  } catch (error) {
    closeKeepingLog(path, db);
    throw error;
  }
}
