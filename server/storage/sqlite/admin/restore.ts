import { Database } from 'bun:sqlite';
import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Restored } from '../../types/admin.ts';
import { isBusy } from '../errors.ts';
import { lockDatabase, lockForMoving } from '../lock.ts';
import { migrate } from '../migrate.ts';
import { assertReplaceable, keepOwner } from '../owner.ts';
import { arrivingAt, canonicalPath } from '../path.ts';
import {
  applySetting,
  busyTimeoutMs,
  closeKeepingLog,
  keepFilesPrivate,
  openElsewhere,
  openForWriting,
} from '../settings.ts';
import { type CarriedOver, carryOver } from './carry-over.ts';
import { copyInto, inspect, moveDurably, parts, removeCopy, syncFile } from './database-copy.ts';

/** `stamp` becomes part of the replaced file's new name. */
type RestoreOptions = { stamp: string; now: number; eraseAgain: boolean };

/**
 * Replaces the database with a backup. `kept` is the new path of the old database, or null if there
 * was none. Throws an Error and changes nothing if another process has the database open or the
 * backup is damaged.
 */
export async function restoreDatabase(
  backup: string,
  name: string,
  options: RestoreOptions,
): Promise<Restored> {
  const file = statSync(backup, { throwIfNoEntry: false });
  if (file === undefined) throw new Error(`no backup found at ${backup}`);
  if (file.isDirectory()) throw new Error(`${backup} is not a backup: it is a folder`);
  keepFilesPrivate();
  inspect(backup);
  const path = canonicalPath(name);
  assertReplaceable(path);
  const lock = lockDatabase(path, 'Stop it before you restore a backup.');
  const partial = `${arrivingAt(path)}.partial`;
  try {
    removeCopy(partial);
    // VACUUM INTO includes the write-ahead log of the backup, which a plain file copy would lack.
    copyInto(partial, () => new Database(backup, { readonly: true }));
    return await replace(path, partial, options);
  } finally {
    removeCopy(partial);
    lock.release();
  }
}

async function replace(path: string, copy: string, options: RestoreOptions): Promise<Restored> {
  using _lock = lockForMoving(path);
  if (existsSync(path)) foldLog(path);
  // While the lock is held, no other command changes the old database.
  const replaced = replacedBy(path);
  const carried = await complete(copy, replaced, options);
  keepOwner(copy, replaced);
  const contents = inspect(copy);
  syncFile(copy);
  // By now, all steps that are slow or likely to fail are complete. While no file exists at the
  // path, the copy at `arrivingAt(path)` keeps a server from creating an empty database there.
  moveDurably(copy, arrivingAt(path));
  const kept = setAside(path, `${path}.before-${options.stamp}`);
  moveDurably(arrivingAt(path), path);
  return { ...contents, kept, ...carried };
}

/** Migrates the copy, and applies what the old database knows. */
async function complete(
  copy: string,
  replaced: string,
  options: RestoreOptions,
): Promise<CarriedOver> {
  using db = new Database(copy, { readwrite: true, strict: true });
  // The copy is synced as a whole, and deleted if a change fails.
  applySetting(db, 'synchronous', 0); // mutate-ignore removal: affects only speed
  migrate(db, copy);
  return await carryOver(db, replaced, options);
}

/** Returns the path of the old database, which an interrupted restore may have renamed. */
function replacedBy(path: string): string {
  if (existsSync(path) || !existsSync(arrivingAt(path))) return path;
  const prefix = `${basename(path)}.before-`;
  const isDatabase = (name: string) =>
    name.startsWith(prefix) && parts.every((part) => part === '' || !name.endsWith(part));
  const newest = readdirSync(dirname(path)).filter(isDatabase).sort().at(-1);
  return newest === undefined ? path : join(dirname(path), newest);
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
    // mutate-ignore removal: the handle is garbage
    if (db !== null) closeKeepingLog(path, db);
    if (isBusy(error)) throw db === null ? error : openElsewhere(path, error);
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
