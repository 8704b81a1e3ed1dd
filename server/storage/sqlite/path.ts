import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { MissingDatabaseError } from '../../errors.ts';

/** The maximum number of symbolic links that Linux follows in a path. */
const mostLinks = 40;

/**
 * Resolves all symbolic links, because another path to the same database file would use a separate
 * lock. Creates the folder if it does not exist.
 */
export function canonicalPath(path: string, links = mostLinks): string {
  if (existsSync(path)) return realpathSync(path);
  // If the target of a link does not exist, SQLite creates the file there.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    if (links === 0) throw new Error(`${path} has too many levels of symbolic links`);
    return canonicalPath(resolve(realpathSync(dirname(path)), readlinkSync(path)), links - 1);
  }
  mkdirSync(dirname(path), { recursive: true });
  return join(realpathSync(dirname(path)), basename(path));
}

/** Throws if there is no file at the path. */
export function assertExists(path: string): void {
  if (!existsSync(path)) throw new MissingDatabaseError(`no database found at ${path}`);
}

export function arrivingAt(path: string): string {
  return `${path}.restoring`;
}

/**
 * Throws an Error with advice if opening the file could lose data. Each hard link would have its
 * own WAL and lock. A missing or empty file would become an empty database, even though its WAL or
 * an unfinished restore exists.
 */
export function assertWhole(name: string): void {
  // SQLite keeps the WAL next to the file, not next to a symbolic link to the file.
  const path = existsSync(name) ? realpathSync(name) : name;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isFile() && file.nlink > 1) {
    throw new Error(
      `${path} has more than one hard link, and opening it under another name would corrupt the ` +
        'database. Copy the file, or remove the other link.',
    );
  }
  if (file !== undefined && file.size > 0) return;
  if (sizeOf(`${path}-wal`) > 0) {
    throw new Error(
      `${path} is missing or empty, but ${path}-wal contains the latest writes. Move the file ` +
        'back to its place, or run "memory restore <backup>", which keeps that log.',
    );
  }
  if (file === undefined && existsSync(arrivingAt(path))) {
    throw new Error(
      `${path} is missing because a restore was interrupted. Run "memory restore <backup>" again, ` +
        `or remove ${arrivingAt(path)} to start with an empty database.`,
    );
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
