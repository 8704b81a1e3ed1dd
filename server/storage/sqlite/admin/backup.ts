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
import { arrivingAt, assertExists, canonicalPath } from '../path.ts';
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
 * Writes a consistent copy of the database to `target`. The copy includes every write that was
 * acknowledged before the call. A server may write at the same time. The copy is verified and
 * synced to disk before it is renamed to `target`. Throws an Error if the target exists or the copy
 * is damaged.
 */
export function backupDatabase(name: string, target: string): BackupContents {
  assertExists(name);
  const path = canonicalPath(name);
  refuseTaken(target);
  keepFilesPrivate();
  if (!existsSync(dirname(target))) throw new Error(`the folder ${dirname(target)} does not exist`);
  removeOrphans(target);
  // Include the process id, so that two concurrent backups do not write to the same file.
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

/** Deletes the partial copies of this backup that earlier processes left behind. */
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
    // EPERM means that the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function refuseTaken(target: string): void {
  if (existsSync(target))
    throw new Error(`${target} already exists; choose another name for the backup`);
}

/**
 * Replaces the database with a backup. `kept` is the new path of the old database, or null if there
 * was none. Throws an Error and changes nothing if another process has the database open or the
 * backup is damaged.
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
    // VACUUM INTO includes the write-ahead log of the backup, which a plain file copy would lack.
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

/** Returns the path to which the existing database was moved, or null if there was none. */
function replace(path: string, copy: string, kept: string): string | null {
  const lock = lockForMoving(path);
  try {
    if (existsSync(path)) foldLog(path);
    // By now, all steps that are slow or likely to fail are complete. While no file exists at the
    // path, the copy at `arrivingAt(path)` keeps a server from creating an empty database there.
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

/**
 * The suffixes of a database file and of SQLite's files next to it. SQLite would apply a leftover
 * WAL or journal to a new database with the same name.
 */
const parts = ['', '-journal', '-wal', '-shm'];

/** Deletes a copy with its WAL and journal, so that a failed copy does not fill the disk. */
function removeCopy(path: string): void {
  for (const part of parts) {
    try {
      rmSync(path + part, { force: true });
    } catch {
      // Ignore the error. The file affects only the next copy, which reports the problem.
    }
  }
}

/** Copies the database that `open` returns, including its WAL, and verifies the copy. */
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
    // An empty file is a valid SQLite database, but restoring it would lose all data.
    if (assertOurs(db, file).schema === 0) throw new Error(`${file} is not a backup: it is empty`);
    const { memories } = db.prepare('SELECT count(*) AS memories FROM memories').get() as {
      memories: number;
    };
    return { memories, bytes: Bun.file(file).size };
  } finally {
    db.close(true);
  }
}

function setAside(path: string, kept: string): string | null {
  const found = parts.filter((part) => existsSync(path + part));
  for (const part of found) renameSync(path + part, kept + part);
  return found[0] === undefined ? null : kept + found[0];
}

/**
 * Checkpoints and deletes the WAL. Throws if another process has the file open. After any other
 * error, the WAL and possibly a journal remain.
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

/**
 * Leaves WAL mode, and retries until other processes have closed the file. SQLite's timeout applies
 * only to locks.
 */
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

/** Renames a synced file, and syncs the folder to make the rename durable. */
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
