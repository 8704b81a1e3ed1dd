import { Database } from 'bun:sqlite';
import { damaged } from './check.ts';
import { isBusy, isDamage } from './faults.ts';
import { assertOurs } from './migrate.ts';
import { assertWhole } from './path.ts';

/** Older versions can corrupt the file when the WAL is reset. */
const oldestSqlite = [3, 51, 3];

/** How long another process may hold the database before we give up: who opens it or closes it does
 * for a moment. */
export const patienceMs = 5_000;

/** What we rely on, set and read back at every open: a library's default may change in silence. */
const settings: Record<string, string | number> = {
  busy_timeout: patienceMs,
  journal_mode: 'wal',
  // 2 is FULL: COMMIT returns when the log is on the disk, not before. The server's writer changes
  // it where it waits by itself.
  synchronous: 2,
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  // Deleted text is overwritten, not left in free pages.
  secure_delete: 1,
  temp_store: 2,
  cache_size: -65_536,
  // Pages in the log before SQLite writes it into the file by itself, inside somebody's commit:
  // what serves or administers a database turns it off. 32 MB.
  wal_autocheckpoint: 8_000,
  // A log that has become long is not cut back inside somebody's commit: see checkpoint.ts.
  journal_size_limit: -1,
};

/** Of the connection that writes; like any `cache_size` below 0 in KiB. COMMIT walks through all of
 * the cache whenever a page was split, in one of eight saves: twice as much makes a single client
 * slower, half as much a busy server with a large file. */
export const writerCacheSize = -32_768;

/** What is not part of a write reads what is committed, also while a write lets it in between. */
export type Connections = { reads: Database; writes: Database };

/** From here on this process makes files that only their owner may read. */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}

export function openDatabase(path: string): Database {
  assertWhole(path);
  const db = open(path);
  try {
    // What is set below comes too late for this: the first statement may meet one who closes it.
    db.run(`PRAGMA busy_timeout = ${patienceMs}`);
    assertVersion(db);
    // Before anything is set: a file that is not ours stays as it is.
    assertOurs(db, path);
    for (const [name, value] of Object.entries(settings)) applySetting(db, name, value);
    return db;
  } catch (error) {
    closeUnfolded(path, db);
    if (isBusy(error)) throw heldByAnother(path, error);
    throw isDamage(error) ? damaged(path, [error.message]) : error;
  }
}

export function heldByAnother(path: string, cause: unknown): Error {
  return new Error(`another program has ${path} open; end it, then try again`, { cause });
}

/**
 * Closes what is not to be served, and leaves its log as it is: the last one to close would write
 * it into the file and delete it. Who only reads does not, and keeps the others from it meanwhile.
 * Left open, it would be no better: at its exit Bun does the same, even beside others.
 */
export function closeUnfolded(path: string, ...opened: Database[]): void {
  // Of an empty file even a reader deletes the log.
  if (opened.length === 0) return;
  const reader = lockToRead(path);
  // With `false` it stays open until the last statement is collected.
  for (const db of opened) db.close(true);
  reader?.close(true);
}

/** Who keeps us from reading for longer holds the file, and closes it after us. */
const readerPatienceMs = 100;

/** A reader that holds SQLite's lock; null where there is nothing to be read, nor a log. */
function lockToRead(path: string): Database | null {
  let db: Database | null = null;
  try {
    db = new Database(path, { readonly: true });
    db.run(`PRAGMA busy_timeout = ${readerPatienceMs}`);
    db.run('SELECT 1 FROM sqlite_schema');
  } catch {
    // A damaged file is locked before the damage is met.
  }
  return db;
}

function open(path: string): Database {
  try {
    return new Database(path, { create: true, readwrite: true, strict: true });
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
  for (const [index, least] of oldestSqlite.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least) throw new Error(`SQLite ${version} is too old: ${oldestSqlite.join('.')}`);
  }
}
