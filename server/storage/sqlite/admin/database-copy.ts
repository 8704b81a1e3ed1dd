import { Database, SQLiteError } from 'bun:sqlite';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BackupContents } from '../../types/admin.ts';
import { structuralFaults } from '../check.ts';
import { cannotBeOpened, isFull } from '../errors.ts';
import { assertOurs } from '../migrate.ts';
import { cannotOpen } from '../settings.ts';

/**
 * The suffixes of a database file and of SQLite's files next to it. SQLite would apply a leftover
 * WAL or journal to a new database with the same name.
 */
export const parts = ['', '-journal', '-wal', '-shm'];

/** Copies the database that `open` returns, including its WAL. */
export function copyInto(target: string, open: () => Database): void {
  using db = open();
  try {
    db.prepare('VACUUM INTO ?').run(target);
  } catch (error) {
    if (cannotBeOpened(error)) throw cannotOpen(target, error);
    if (!isFull(error)) throw error;
    throw new Error(`the disk of ${dirname(target)} is too full for a copy of the database`);
  }
}

/** Throws an Error if the file is not an intact backup. */
export function inspect(
  file: string,
  notIntact = (fault: string) => new Error(`${file} is not an intact backup: ${fault}`),
): BackupContents {
  try {
    using db = new Database(file, { readonly: true });
    const [fault] = structuralFaults(db);
    if (fault !== undefined) throw notIntact(fault);
    // An empty file is a valid SQLite database, but restoring it would lose all data.
    if (assertOurs(db, file).schema === 0) throw new Error(`${file} is not a backup: it is empty`);
    const { memories } = db.prepare('SELECT count(*) AS memories FROM memories').get() as {
      memories: number;
    };
    return { memories, bytes: Bun.file(file).size };
  } catch (error) {
    throw error instanceof SQLiteError ? cannotOpen(file, error) : error;
  }
}

/** Deletes a copy with its WAL and journal, so that a failed copy does not fill the disk. */
export function removeCopy(path: string): void {
  for (const part of parts) {
    try {
      rmSync(path + part, { force: true });
    } catch {
      // Ignore the error. The file affects only the next copy, which reports the problem.
    }
  }
}

/** Renames a synced file, and syncs the folder to make the rename durable. */
export function moveDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFile(dirname(to));
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
