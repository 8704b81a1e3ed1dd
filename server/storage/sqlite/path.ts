import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { MissingDatabaseError } from '../../errors.ts';

/** The maximum number of symbolic links that Linux follows in a path. */
const maxLinks = 40; // mutate-ignore constant: the system follows no more
const walHeaderBytes = 32;

/**
 * Resolves all symbolic links, because another path to the same database file would use a separate
 * lock. Creates the folder if it does not exist.
 */
export function canonicalPath(name: string): string {
  const path = targetOf(name);
  mkdirSync(dirname(path), { recursive: true });
  return join(realpathSync(dirname(path)), basename(path));
}

/**
 * Follows the symbolic links at the path. If the last target does not exist, SQLite creates the
 * file there. Throws an Error if it is a folder, or if a link has a WAL that its target lacks.
 */
function targetOf(path: string, links = maxLinks): string {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file?.isDirectory()) {
    throw new Error(`the database ${path} cannot be opened: it is a folder`);
  }
  if (file?.isFile()) assertNotMounted(join(realpathSync(dirname(path)), basename(path)));
  if (!file?.isSymbolicLink()) return path;
  if (links === 0) throw new Error(`${path} has too many levels of symbolic links`);
  const next = resolve(realpathSync(dirname(path)), readlinkSync(path));
  const target = targetOf(next, links - 1);
  assertLogMoved(path, target);
  return target;
}

/**
 * The WAL and the lock of a file that is mounted alone, as into a container, are not in the file's
 * own folder. They would be lost with the container, and another server would use others.
 */
function assertNotMounted(path: string): void {
  const octal = (char: string) => char.charCodeAt(0).toString(8).padStart(3, '0');
  const escaped = path.replace(/[\s\\]/g, (char) => `\\${octal(char)}`);
  if (!mountsOfLinux().some((line) => line.split(' ')[4] === escaped)) return;
  throw new Error(
    `${path} is mounted alone, without its write-ahead log and its lock. Mount its folder instead.`,
  );
}

/** Returns the lines of the mount table; none on other systems, or if they may not be read. */
function mountsOfLinux(): string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** SQLite keeps the WAL next to the file, so moving the file alone separates them. */
function assertLogMoved(link: string, target: string): void {
  if (!hasFrames(`${link}-wal`) || hasFrames(`${target}-wal`)) return;
  throw new Error(
    `${link} is a link to ${target}, but ${link}-wal contains the latest writes. Move ${link}-wal ` +
      `to ${target}-wal if only the file was moved, or remove the link and move the file back.`,
  );
}

/** The operator is warned if the WAL is larger than this. */
export const longLogBytes = 256 * 1024 * 1024;

export function logBytes(path: string): number {
  return sizeOf(`${path}-wal`);
}

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
  const path = targetOf(name);
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isFile() && file.nlink > 1) {
    throw new Error(
      `${path} has more than one hard link, and opening it under another name would corrupt the ` +
        'database. Copy the file, or remove the other link.',
    );
  }
  // mutate-ignore constant: a database has a header
  if (file !== undefined && file.size > 0) return;
  // mutate-ignore constant: a log has a header
  if (logBytes(path) > 0) {
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

/** Whether the WAL contains more than its header. */
function hasFrames(wal: string): boolean {
  return sizeOf(wal) > walHeaderBytes;
}

/** Returns 0 if the file does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
