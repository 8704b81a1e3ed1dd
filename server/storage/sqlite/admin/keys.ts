import type { Database } from 'bun:sqlite';
import type { ShortEngine } from '../../engine.ts';
import { openUnmoved } from '../lock.ts';
import { assertFinished, assertOurs, migrate } from '../migrate.ts';
import { assertExists, canonicalPath } from '../path.ts';
import { closeKeepingLog, keepFilesPrivate, openBesideServer } from '../settings.ts';
import { createAlone, createTx } from '../transaction.ts';

/** Opens the database file. If it does not exist, creates it if `create` is true, else throws. */
export function openEngine(
  name: string,
  { create }: { create: boolean },
): ShortEngine & { close(): void } {
  if (!create) assertExists(name);
  keepFilesPrivate();
  const path = canonicalPath(name);
  const db = openUnmoved(path, () => openForKeys(path));
  const tx = createTx(db);
  return {
    write: createAlone(db),
    readShort: ({ run }, input) => run(tx, input),
    // Keep the WAL. A server checkpoints it later.
    close: () => closeKeepingLog(path, db),
  };
}

function openForKeys(path: string): Database {
  const db = openBesideServer(path, { create: true });
  try {
    // An older schema is left to the next start of a server. A running server of that version could
    // not be restarted after an upgrade.
    if (assertOurs(db, path).schema === 0) migrate(db, path);
    assertFinished(db, path);
    return db;
  } catch (error) {
    // mutate-ignore removal: the process ends
    closeKeepingLog(path, db);
    throw error;
  }
}
