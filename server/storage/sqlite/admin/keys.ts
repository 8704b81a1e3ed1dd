import type { Database } from 'bun:sqlite';
import type { KeyAdmin } from '../../admin-storage.ts';
import { notStored } from '../errors.ts';
import { openInPlace } from '../lock.ts';
import { assertFinished, migrate } from '../migrate.ts';
import { assertExists, canonicalPath } from '../path.ts';
import { createKeyReads } from '../reader/memories.ts';
import { closeKeepingLog, keepFilesPrivate, openForWriting } from '../settings.ts';
import { createKeyWrites } from '../writer/keys.ts';

/** Opens the database file. If it does not exist, creates it if `create` is true, else throws. */
export function openKeyAdmin(name: string, { create }: { create: boolean }): KeyAdmin {
  if (!create) assertExists(name);
  keepFilesPrivate();
  const path = canonicalPath(name);
  const db = openInPlace(path, () => openMigrated(path));
  const reads = createKeyReads(db);
  const writes = createKeyWrites(db);

  async function inTransaction<T>(write: () => T): Promise<T> {
    try {
      return db.transaction(write).immediate();
    } catch (error) {
      throw notStored(error);
    }
  }

  return {
    createKey: (key) => inTransaction(() => writes.createKey(key)),
    listKeys: async () => reads.listKeys(),
    revokeKey: (id, at) => inTransaction(() => writes.revokeKey({ id, at })),
    // Keep the WAL. A server checkpoints it later.
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
