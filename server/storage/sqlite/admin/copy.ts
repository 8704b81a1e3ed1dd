import type { Database } from 'bun:sqlite';
import type { CopySide, Row } from '../../copy/side.ts';
import type { Value } from '../../engine.ts';
import { lockDatabase } from '../lock.ts';
import { isUnfinishedCopy, migrate } from '../migrate.ts';
import { assertExists, canonicalPath } from '../path.ts';
import { keepFilesPrivate, openForWriting } from '../settings.ts';

/**
 * Locks the database and opens it for a copy. Throws an Error with advice if a server is running,
 * or if the file does not exist and `create` is false.
 */
export function openCopySide(name: string, { create }: { create: boolean }): CopySide {
  if (!create) assertExists(name);
  keepFilesPrivate();
  const path = canonicalPath(name);
  const lock = lockDatabase(path, 'Stop it and run the command again.');
  let db: Database | null = null;
  try {
    db = openForWriting(path, { create });
    migrate(db, path);
    return copySideOf(db, () => lock.release());
  } catch (error) {
    db?.close(true);
    lock.release();
    throw error;
  }
}

function copySideOf(db: Database, release: () => void): CopySide {
  const run = (text: string, values: readonly Value[]) =>
    db.query<Row, Value[]>(text.replaceAll('$', '?')).all(...values);

  return {
    kind: 'sqlite',
    read: async (text, values = []) => run(text, values),
    async write(...all) {
      const writeAll = db.transaction(() => {
        for (const { text, values } of all) run(text, values);
      });
      writeAll.immediate();
    },
    isUnfinished: async () => isUnfinishedCopy(db),
    // This process holds the file's lock, so no server can be running.
    assertUnused: async () => {},
    close() {
      db.close(true);
      release();
    },
  };
}
