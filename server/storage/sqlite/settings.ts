import { constants, Database, SQLiteError } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openFault } from './access.ts';
import { damaged } from './check.ts';
import { isBusy, isDamage } from './errors.ts';
import { assertOurs } from './migrate.ts';
import { shareWithOwner } from './owner.ts';
import { assertWhole } from './path.ts';

/** The minimum version. Older versions have a bug that can corrupt the file on a WAL reset. */
const minSqlite = '3.51.3';

/** When opening or closing the database, how long to wait for a lock that another process holds. */
export const busyTimeoutMs = 5_000;

type Settings = Record<string, string | number>;

/** Set and verified for every connection, because the library's defaults may change. */
const common: Settings = {
  busy_timeout: busyTimeoutMs,
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  temp_store: 2,
};

const writing: Settings = {
  journal_mode: 'wal',
  // 2 is FULL: COMMIT returns only after the WAL has been synced to disk.
  // mutate-ignore constant: EXTRA equals FULL with a write-ahead log
  synchronous: 2,
  // SQLite overwrites deleted text instead of leaving it in free pages.
  secure_delete: 1,
  // No limit, because checkpoints.ts truncates a long WAL outside of commits.
  // mutate-ignore constant: any negative value
  journal_size_limit: -1,
  // 32 MiB; a negative value is in KiB. COMMIT scans the whole cache if a page was split. Doubling
  // the size slows down a single client; halving it slows down a busy server with a large file.
  // mutate-ignore constant: affects only speed
  cache_size: -32_768,
};

/** In KiB. Small, because several read connections share the operating system's page cache. */
const readingCacheKiB = 2_048;

/** Makes the files that this process creates from now on readable only by their owner. */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}

/**
 * Opens the database for writing. Only the first open in a process may `create` the file. If the
 * file were missing at a later open, SQLite would create an empty file and delete the WAL.
 */
export function openForWriting(path: string, { create = false } = {}): Database {
  assertWhole(path);
  const isNew = create && !existsSync(path);
  const db = openFile(path, { create, readwrite: true, strict: true });
  if (isNew) shareWithOwner(path, dirname(path));
  return configured(db, path, { ...common, ...writing });
}

/**
 * Opens the database for a command that writes beside a server. After a failed sync, the server
 * makes no checkpoint, and the command must not make one either.
 */
export function openBesideServer(path: string, { create = false } = {}): Database {
  const db = openForWriting(path, { create });
  applySetting(db, 'wal_autocheckpoint', 0);
  return db;
}

/**
 * Opens the database for writing without its `-shm` file, for which a full disk has no space. The
 * index of the WAL is then kept in memory, and the process locks the file against all others. Until
 * the returned connection is closed, all other connections in this process share that index,
 * because SQLite keeps one per file and process.
 */
export function openWithoutSharedMemory(path: string): Database {
  const { SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants;
  assertWhole(path);
  const url = `${pathToFileURL(path)}?vfs=unix-excl`;
  const db = new Database(url, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI);
  return configured(db, path, { ...common, ...writing });
}

/** Opens the database for reading. Such a connection cannot checkpoint or delete the WAL. */
export function openForReading(path: string, cacheKiB = readingCacheKiB): Database {
  assertWhole(path);
  return configured(openFile(path, { readonly: true, strict: true }), path, {
    ...common,
    cache_size: -cacheKiB,
  });
}

function configured(db: Database, path: string, settings: Settings): Database {
  try {
    // Set this first, because even the first statement may find the database locked.
    db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    assertVersion(db);
    // Check the file before any setting is applied, so that another program's file is not changed.
    assertOurs(db, path);
    for (const [name, value] of Object.entries(settings)) applySetting(db, name, value);
    return db;
  } catch (error) {
    closeKeepingLog(path, db);
    if (isBusy(error)) throw openElsewhere(path, error);
    if (isDamage(error)) throw damaged(path, [error.message]);
    throw error instanceof SQLiteError ? cannotOpen(path, error) : error;
  }
}

export function openElsewhere(path: string, cause: unknown): Error {
  return new Error(`another program has ${path} open; stop it and try again`, { cause });
}

/**
 * Closes a connection and keeps the WAL. When the last connection is closed, SQLite checkpoints and
 * deletes the WAL, unless that connection is read-only.
 */
export function closeKeepingLog(path: string, db: Database): void {
  const reader = lockToRead(path);
  // Without `true`, a connection stays open until its last statement is garbage-collected.
  db.close(true);
  reader?.close(true);
}

/**
 * A short timeout is safe: a program that blocks reads has the file open, so SQLite keeps the WAL.
 */
const readerTimeoutMs = 100;

/** Opens a connection that holds SQLite's read lock; null if the file cannot be opened. */
function lockToRead(path: string): Database | null {
  let db: Database | null = null;
  try {
    db = new Database(path, { readonly: true });
    db.run(`PRAGMA busy_timeout = ${readerTimeoutMs}`);
    db.run('SELECT 1 FROM sqlite_schema');
  } catch {
    // Ignore the error. Even if the file is damaged, SQLite has already acquired the lock.
  }
  return db;
}

function openFile(path: string, options: ConstructorParameters<typeof Database>[1]): Database {
  try {
    return new Database(path, options);
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/** SQLite's own error does not say why. */
export function cannotOpen(path: string, cause: unknown): Error {
  const message = `the database ${path} cannot be opened: ${openFault(path, cause)}`;
  return new Error(message, { cause });
}

/** Verifies that the setting was applied. */
export function applySetting(db: Database, name: string, value: string | number): void {
  db.run(`PRAGMA ${name} = ${value}`);
  const row = db.prepare(`PRAGMA ${name}`).get() as Record<string, string | number>;
  const [found] = Object.values(row);
  if (found !== value)
    throw new Error(`SQLite did not accept ${name}=${value}; the value is ${found}`);
}

function assertVersion(db: Database): void {
  const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  // Some versions have four numbers, which `Bun.semver` rejects.
  if (version.localeCompare(minSqlite, 'en', { numeric: true }) < 0)
    throw new Error(`SQLite ${version} is too old: ${minSqlite} or newer is required`);
}
