import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** As many as Linux follows. */
const mostLinks = 40;

/**
 * The one name of a database file, whatever links lead to it: the lock is named after it, and two
 * names would be two locks. Makes the folder where there is none.
 */
export function canonicalPath(path: string, links = mostLinks): string {
  if (existsSync(path)) return realpathSync(path);
  // SQLite makes the file where the link leads.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    if (links === 0) throw new Error(`${path} is a link that leads to no file`);
    return canonicalPath(resolve(realpathSync(dirname(path)), readlinkSync(path)), links - 1);
  }
  mkdirSync(dirname(path), { recursive: true });
  return join(realpathSync(dirname(path)), basename(path));
}

/** Where a backup waits until what was there has been set aside. */
export function arrivingAt(path: string): string {
  return `${path}.restoring`;
}

/**
 * Throws an Error that says what to do where opening the file would lose something: a second name
 * of it has a log and a lock of its own, and a missing or empty file would be made anew although
 * its log or a backup on its way is there.
 */
export function assertWhole(name: string): void {
  // SQLite keeps the log beside the file, and not beside a link to it.
  const path = existsSync(name) ? realpathSync(name) : name;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isFile() && file.nlink > 1) {
    throw new Error(
      `${path} has another name by a hard link, and who opens it by that name would destroy what ` +
        'is written by this one. Copy the file, or remove the other name.',
    );
  }
  if (file !== undefined && file.size > 0) return;
  if (sizeOf(`${path}-wal`) > 0) {
    throw new Error(
      `${path} is missing or empty, but what was written last is still in ${path}-wal. Put the ` +
        'file back beside it, or "memory restore <backup>", which keeps that log.',
    );
  }
  if (file === undefined && existsSync(arrivingAt(path))) {
    throw new Error(
      `${path} is missing, because a restore did not end. Run "memory restore <backup>" again, or ` +
        `remove ${arrivingAt(path)} to begin with an empty database.`,
    );
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
