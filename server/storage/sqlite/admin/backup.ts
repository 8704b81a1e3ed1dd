import { Database } from 'bun:sqlite';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { BackupContents, Restored } from '../../admin-storage.ts';
import { structuralFaults } from '../check.ts';
import { isBusy } from '../errors.ts';
import { lockDatabase, lockForMoving, openInPlace } from '../lock.ts';
import { assertOurs, migrate } from '../migrate.ts';
import { arrivingAt, canonicalPath } from '../path.ts';
import {
  applySetting,
  busyTimeoutMs,
  closeKeepingLog,
  heldByAnother,
  keepFilesPrivate,
  openForReading,
  openForWriting,
} from '../settings.ts';

/**
 * Writes a consistent copy of the database to `target`, while a server may go on writing: it holds
 * everything that was answered before it began. The copy is checked and on the disk before it gets
 * its name. Throws an Error where the target exists or the copy is not sound.
 */
export function backupDatabase(name: string, target: string): BackupContents {
  if (!existsSync(name)) throw new Error(`no database found at ${name}`);
  const path = canonicalPath(name);
  refuseTaken(target);
  keepFilesPrivate();
  if (!existsSync(dirname(target))) throw new Error(`the folder ${dirname(target)} does not exist`);
  removeOrphans(target);
  // A name of its own: two backups at once must not write into one file.
  const partial = `${target}.${process.pid}.partial`;
  try {
    const contents = copySound(() => openInPlace(path, () => openForReading(path)), partial);
    refuseTaken(target);
    syncFile(partial);
    moveDurably(partial, target);
    return contents;
  } finally {
    removeCopy(partial);
  }
}

/** What backups of this name left that were killed: each as large as the database. */
function removeOrphans(target: string): void {
  for (const name of readdirSync(dirname(target))) {
    const [, pid] = /\.(\d+)\.partial$/.exec(name) ?? [];
    if (name !== `${basename(target)}.${pid}.partial` || isRunning(Number(pid))) continue;
    removeCopy(join(dirname(target), name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs, and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function refuseTaken(target: string): void {
  if (existsSync(target))
    throw new Error(`${target} already exists; choose another name for the backup`);
}

/**
 * Puts a backup in the database's place. What was there is kept beside it, under the name that is
 * returned; null where there was nothing. Throws an Error, and changes nothing, where a server or
 * anybody else has the database open, or the backup is not sound.
 */
export function restoreDatabase(backup: string, name: string, stamp: string): Restored {
  if (!existsSync(backup)) throw new Error(`no backup found at ${backup}`);
  keepFilesPrivate();
  inspect(backup);
  const path = canonicalPath(name);
  const lock = lockDatabase(path, 'Stop it before you restore a backup.');
  const partial = `${arrivingAt(path)}.partial`;
  try {
    removeCopy(partial);
    // With what is in the backup's own log, which a copy of the file would lack.
    const contents = copySound(() => new Database(backup, { readonly: true }), partial);
    upgrade(partial);
    syncFile(partial);
    const kept = replace(path, partial, `${path}.before-${stamp}`);
    return { ...contents, kept };
  } finally {
    removeCopy(partial);
    lock.release();
  }
}

/** Moves the copy to the path, and what is there to `kept`. Returns where that is, or null. */
function replace(path: string, copy: string, kept: string): string | null {
  const lock = lockForMoving(path);
  try {
    if (existsSync(path)) foldLog(path);
    // All that takes long or may fail is done. Now nothing is at the path for a moment, and what
    // keeps a server from starting on that is the whole copy, under a name that it looks for.
    moveDurably(copy, arrivingAt(path));
    const setAsideAt = setAside(path, kept);
    moveDurably(arrivingAt(path), path);
    return setAsideAt;
  } finally {
    lock.release();
  }
}

function upgrade(path: string): void {
  const db = openForWriting(path);
  try {
    migrate(db, path);
  } finally {
    db.close(true);
  }
}

/** A file and what SQLite keeps beside it, which it would take for that of any file of the name. */
const parts = ['', '-journal', '-wal', '-shm'];

/** What a disk that is full leaves of one must not stay there. */
function removeCopy(path: string): void {
  for (const part of parts) {
    try {
      rmSync(path + part, { force: true });
    } catch {
      // Then it is in the way of nothing but the next copy, which says so.
    }
  }
}

/** Copies the database that `open` gives, with its log, and sees whether the copy is sound. */
function copySound(open: () => Database, target: string): BackupContents {
  const db = open();
  try {
    db.prepare('VACUUM INTO ?').run(target);
  } finally {
    db.close(true);
  }
  return inspect(target);
}

function inspect(file: string): BackupContents {
  const db = new Database(file, { readonly: true });
  try {
    const [fault] = structuralFaults(db);
    if (fault !== undefined) throw new Error(`${file} is not an intact backup: ${fault}`);
    // An empty file is a valid database, and as a backup a lost one.
    if (assertOurs(db, file).schema === 0) throw new Error(`${file} is not a backup: it is empty`);
    const { memories } = db.prepare('SELECT count(*) AS memories FROM memories').get() as {
      memories: number;
    };
    return { memories, bytes: Bun.file(file).size };
  } finally {
    db.close(true);
  }
}

/** Moves what is at the path to `kept`, and returns where it is; null where there is nothing. */
function setAside(path: string, kept: string): string | null {
  const found = parts.filter((part) => existsSync(path + part));
  for (const part of found) renameSync(path + part, kept + part);
  return found[0] === undefined ? null : kept + found[0];
}

/**
 * Writes the log into the file and removes it, which succeeds only where nobody else has the file
 * open. A file too broken for that, or on a disk too full, keeps its log, and maybe a journal.
 */
function foldLog(path: string): void {
  let db: Database | null = null;
  try {
    db = openForWriting(path);
    leaveLog(db);
    db.close(true);
  } catch (error) {
    if (db !== null) closeKeepingLog(path, db);
    if (isBusy(error)) throw db === null ? error : heldByAnother(path, error);
  }
}

/** Waits for those who have the file open. SQLite would not: its patience is for locks only. */
function leaveLog(db: Database): void {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      applySetting(db, 'journal_mode', 'delete');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Bun.sleepSync(10);
    }
  }
}

/** A rename is durable once its folder is; what was written to the file has to be before. */
function moveDurably(from: string, to: string): void {
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
