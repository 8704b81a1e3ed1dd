import type { Database } from 'bun:sqlite';
import type { KeyAdmin } from '../../admin-storage.ts';
import { notStored } from '../errors.ts';
import { openInPlace } from '../lock.ts';
import { assertFinished, migrate } from '../migrate.ts';
import { canonicalPath } from '../path.ts';
import { createKeyReads } from '../reader/memories.ts';
import { closeKeepingLog, keepFilesPrivate, openForWriting } from '../settings.ts';
import { createKeyWrites } from '../writer/keys.ts';

/** Opens the database file, creating it if it does not exist. */
export function openKeyAdmin(name: string): KeyAdmin {
  keepFilesPrivate();
  const path = canonicalPath(name);
  const db = openInPlace(path, () => openMigrated(path));
  const reads = createKeyReads(db);
  const writes = createKeyWrites(db);

  function inTransaction<T>(write: () => T): T {
    try {
      return db.transaction(write).immediate();
    } catch (error) {
      throw notStored(error);
    }
  }

  return {
    createKey: (key) => inTransaction(() => writes.createKey(key)),
    listKeys: () => reads.listKeys(),
    revokeKey: (revoked) => inTransaction(() => writes.revokeKey(revoked)),
    // Keep the WAL. Checkpointing it is left to a server.
    close: () => closeKeepingLog(path, db),
  };
}

function openMigrated(path: string): Database {
  const db = openForWriting(path, { create: true });
  try {
    migrate(db, path);
    assertFinished(db, path);
    return db;
  } catch (error) {
    closeKeepingLog(path, db);
    throw error;
  }
}
