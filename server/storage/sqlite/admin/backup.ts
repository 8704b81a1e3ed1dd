import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { BackupContents } from '../../types/admin.ts';
import { isDamage } from '../errors.ts';
import { openUnmoved } from '../lock.ts';
import { assertExists, canonicalPath } from '../path.ts';
import {
  closeKeepingLog,
  keepFilesPrivate,
  openBesideServer,
  openForReading,
} from '../settings.ts';
import { copyInto, inspect, moveDurably, removeCopy, syncFile } from './database-copy.ts';

/**
 * Writes a consistent copy of the database to `target`. The copy includes every write that was
 * acknowledged before the call. A server may write at the same time. The copy is verified and
 * synced to disk before it is renamed to `target`. Throws an Error if the target exists or the copy
 * is damaged.
 */
export function backupDatabase(name: string, target: string): BackupContents {
  assertExists(name);
  const path = canonicalPath(name);
  rejectExisting(target);
  keepFilesPrivate();
  if (!existsSync(dirname(target))) throw new Error(`the folder ${dirname(target)} does not exist`);
  removeOrphans(target);
  // Include the process id, so that two concurrent backups do not write to the same file.
  const partial = `${target}.${process.pid}.partial`;
  try {
    // In a container, every backup may have the same process id.
    removeCopy(partial);
    copyInto(partial, () => openUnmoved(path, () => openForReading(path)));
    const contents = inspect(partial, (fault) => notIntact(path, fault));
    rejectExisting(target);
    syncFile(partial);
    moveDurably(partial, target);
    return contents;
  } catch (error) {
    throw isDamage(error) ? notIntact(path, error.message) : error;
  } finally {
    removeCopy(partial);
  }
}

export function storeBackupTime(name: string, at: number): void {
  const path = canonicalPath(name);
  const db = openUnmoved(path, () => openBesideServer(path));
  try {
    db.prepare(
      `INSERT INTO maintenance (name, value) VALUES ('last_backup', ?)
       ON CONFLICT DO UPDATE SET value = excluded.value`,
    ).run(at);
  } finally {
    closeKeepingLog(path, db);
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

function notIntact(path: string, fault: string): Error {
  return new Error(
    `no backup was made, because ${path} or the copy of it is damaged: ${fault}. ` +
      'Check the database with "memory doctor".',
  );
}

function rejectExisting(target: string): void {
  if (existsSync(target))
    throw new Error(`${target} already exists; choose another name for the backup`);
}
