import type { Database } from 'bun:sqlite';
import { dirname } from 'node:path';
import { isReadOnly } from './access.ts';
import { damaged, structuralFaults } from './check.ts';
import { isShmFault } from './errors.ts';
import { assertFinished, migrate } from './migrate.ts';
import { sizeOf } from './path.ts';
import { closeKeepingLog, openForWriting, openWithoutSharedMemory } from './settings.ts';

/* Checks the database file and migrates its schema, before any thread opens the file. */

export type PreparedFile = {
  /** Why the file can only be read at first, or null. */
  fault: string | null;
  /** Must be called after all other connections have been closed. */
  close(): void;
};

const fullDisk =
  'the disk is full, so the database can only be read; writes succeed once there is space, but ' +
  'other commands cannot open the database until the service is restarted';
const readOnlyDisk = 'the file system is read-only, so the database can only be read';

export function prepareFile(path: string): PreparedFile {
  const { db, isFull } = openFirst(path);
  const close = () => closeKeepingLog(path, db);
  try {
    const faults = isSmall(path) ? structuralFaults(db) : [];
    if (faults.length > 0) throw damaged(path, faults);
    migrate(db, path);
    assertFinished(db, path);
  } catch (error) {
    close();
    throw error;
  }
  if (isFull) return { fault: fullDisk, close };
  close();
  return { fault: isReadOnly(dirname(path)) ? readOnlyDisk : null, close() {} };
}

function openFirst(path: string): { db: Database; isFull: boolean } {
  try {
    return { db: openForWriting(path, { create: true }), isFull: false };
  } catch (error) {
    if (!isShmFault(error)) throw error;
    return { db: openWithoutSharedMemory(path), isFull: true };
  }
}

/** Files up to this size are checked at startup. Larger files are checked in the background. */
const checkedAtOpenBytes = 16 * 1024 * 1024;

export function isSmall(path: string): boolean {
  return sizeOf(path) <= checkedAtOpenBytes;
}
