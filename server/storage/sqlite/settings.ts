import { Database } from 'bun:sqlite';
import { damaged } from './check.ts';
import { isBusy, isDamage } from './errors.ts';
import { assertOurs } from './migrate.ts';
import { assertWhole } from './path.ts';

/** Older versions can corrupt the file when the WAL is reset. */
const minSqlite = [3, 51, 3];

/** How long another process may hold the database before we give up: one that opens or closes it
 * does so for a moment. */
export const busyTimeoutMs = 5_000;

type Settings = Record<string, string | number>;

/** What we rely on, set and read back at every open: a library's default may change in silence. */
const common: Settings = {
  busy_timeout: busyTimeoutMs,
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  temp_store: 2,
};

const writing: Settings = {
  journal_mode: 'wal',
  // 2 is FULL: COMMIT returns when the log is on the disk, not before.
  synchronous: 2,
  // Deleted text is overwritten, not left in free pages.
  secure_delete: 1,
  // A log that has become long is cut back where we choose, not inside a commit.
  journal_size_limit: -1,
  // Like any cache_size below 0 in KiB. COMMIT walks through all of the cache whenever a page was
  // split: twice as much slows down a single client, half as much a busy server with a large file.
  cache_size: -32_768,
};

/** Small, because there are several reading connections and they share the system's page cache. */
const reading: Settings = { cache_size: -8_192 };

/** From here on this process makes files that only their owner may read. */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}

/**
 * Opens the database for writing. `create` is for the first open of a process alone: a later one
 * of a path that was moved away would make an empty file, and SQLite would drop the log for it.
 */
export function openForWriting(path: string, { create = false } = {}): Database {
  assertWhole(path);
  const db = openFile(path, { create, readwrite: true, strict: true });
  return configured(db, path, { ...common, ...writing });
}

/** Opens the database for reading. Such a connection cannot checkpoint or delete the log. */
export function openForReading(path: string): Database {
  assertWhole(path);
  return configured(openFile(path, { readonly: true, strict: true }), path, {
    ...common,
    ...reading,
  });
}

function configured(db: Database, path: string, settings: Settings): Database {
  try {
    // What is set below comes too late for this: the first statement may meet one who closes it.
    db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    assertVersion(db);
    // Before anything is set: a file that is not ours stays as it is.
    assertOurs(db, path);
    for (const [name, value] of Object.entries(settings)) applySetting(db, name, value);
    return db;
  } catch (error) {
    closeKeepingLog(path, db);
    if (isBusy(error)) throw heldByAnother(path, error);
    throw isDamage(error) ? damaged(path, [error.message]) : error;
  }
}

export function heldByAnother(path: string, cause: unknown): Error {
  return new Error(`another program has ${path} open; end it, then try again`, { cause });
}

/**
 * Closes connections and leaves the log as it is. The last connection to close would write the log
 * into the file and delete it; one that only reads cannot, and keeps the others from it meanwhile.
 */
export function closeKeepingLog(path: string, ...opened: Database[]): void {
  if (opened.length === 0) return;
  const reader = lockToRead(path);
  // Without `true` it stays open until the last statement is collected.
  for (const db of opened) db.close(true);
  reader?.close(true);
}

/** A program that keeps us from reading for longer holds the file, and closes it after us. */
const readerTimeoutMs = 100;

/** A connection that holds SQLite's read lock; null where there is nothing to be read. */
function lockToRead(path: string): Database | null {
  let db: Database | null = null;
  try {
    db = new Database(path, { readonly: true });
    db.run(`PRAGMA busy_timeout = ${readerTimeoutMs}`);
    db.run('SELECT 1 FROM sqlite_schema');
  } catch {
    // A damaged file is locked before the damage is met.
  }
  return db;
}

function openFile(path: string, options: ConstructorParameters<typeof Database>[1]): Database {
  try {
    return new Database(path, options);
  } catch (error) {
    const advice = 'is it a file, and may this user write to its folder?';
    throw new Error(`the database ${path} cannot be opened; ${advice}`, { cause: error });
  }
}

/** Sets it and reads it back. */
export function applySetting(db: Database, name: string, value: string | number): void {
  db.run(`PRAGMA ${name} = ${value}`);
  const row = db.prepare(`PRAGMA ${name}`).get() as Record<string, string | number>;
  const [found] = Object.values(row);
  if (found !== value) throw new Error(`SQLite refused ${name}=${value}; it is ${found}`);
}

function assertVersion(db: Database): void {
  const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const parts = version.split('.').map(Number);
  for (const [index, min] of minSqlite.entries()) {
    const part = parts[index] ?? 0;
    if (part > min) return;
    if (part < min) throw new Error(`SQLite ${version} is too old: ${minSqlite.join('.')}`);
  }
}
