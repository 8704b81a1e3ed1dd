import { Database } from 'bun:sqlite';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { structuralFaults } from './check.ts';
import { lockDatabase } from './lock.ts';
import { assertOurs, migrate } from './migrate.ts';
import { canonicalPath } from './path.ts';
import { keepFilesPrivate, openDatabase } from './settings.ts';

/** What a backup holds. */
export type BackupContents = { memories: number; bytes: number };

/**
 * Writes a consistent copy of the database to `target`, while a server may go on writing: it holds
 * everything that was answered before it began. The copy is checked and on the disk before it gets
 * its name. Throws an Error where the target exists or the copy is not sound.
 */
export function backupDatabase(path: string, target: string): BackupContents {
  if (!existsSync(path)) throw new Error(`there is no database at ${path}`);
  if (existsSync(target)) throw new Error(`${target} exists; choose another name for the backup`);
  keepFilesPrivate();
  if (!existsSync(dirname(target))) throw new Error(`there is no folder ${dirname(target)}`);
  const partial = `${target}.partial`;
  rmSync(partial, { force: true });
  const db = openDatabase(path);
  try {
    assertOurs(db, path);
    db.prepare('VACUUM INTO ?').run(partial);
  } finally {
    db.close(false);
  }
  const contents = inspect(partial);
  moveDurably(partial, target);
  return contents;
}

/**
 * Puts a backup in the database's place. What was there is kept beside it, under the name that is
 * returned; null where there was nothing. Throws an Error, and changes nothing, where a server runs
 * on the database or the backup is not sound.
 */
export function restoreDatabase(
  backup: string,
  name: string,
  stamp: string,
): BackupContents & { kept: string | null } {
  if (!existsSync(backup)) throw new Error(`there is no backup at ${backup}`);
  keepFilesPrivate();
  const contents = inspect(backup);
  const path = canonicalPath(name);
  const lock = lockDatabase(path, 'Stop it, then restore.');
  try {
    const arriving = `${path}.restoring`;
    copyFileSync(backup, arriving);
    const kept = existsSync(path) ? `${path}.before-${stamp}` : null;
    if (kept !== null) setAside(path, kept);
    moveDurably(arriving, path);
    const db = openDatabase(path);
    migrate(db, path);
    db.close(true);
    return { ...contents, kept };
  } finally {
    lock.release();
  }
}

function inspect(file: string): BackupContents {
  const db = new Database(file, { readonly: true });
  try {
    const [fault] = structuralFaults(db);
    if (fault !== undefined) throw new Error(`${file} is not a sound backup: ${fault}`);
    assertOurs(db, file);
    const { memories } = db.prepare('SELECT count(*) AS memories FROM memories').get() as {
      memories: number;
    };
    return { memories, bytes: Bun.file(file).size };
  } finally {
    db.close(false);
  }
}

/** Closing writes the log into the file, so that one rename moves all. A file too broken for that
 * is kept with its log beside it. */
function setAside(path: string, kept: string): void {
  try {
    openDatabase(path).close(true);
  } catch {
    for (const part of ['-wal', '-shm']) {
      if (existsSync(path + part)) renameSync(path + part, kept + part);
    }
  }
  renameSync(path, kept);
}

/** A rename is durable once its folder is; the file must be before. */
function moveDurably(from: string, to: string): void {
  syncFile(from);
  renameSync(from, to);
  syncFile(dirname(to));
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
