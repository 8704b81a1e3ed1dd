import { readConfig } from './config.ts';
import { keyToStore, makeKey } from './http/keys.ts';
import {
  type Comparison,
  compare,
  copyRows,
  finishCopy,
  type ReportRows,
} from './storage/copy/copy.ts';
import type { CopySide } from './storage/copy/side.ts';
import { isPostgres, locationOf, sqlitePath } from './storage/open.ts';
import { createKey, listKeys, revokeKey } from './storage/operations/keys.ts';
import type { BackupContents, Finding, Restored } from './storage/types/admin.ts';
import type { NewKey } from './storage/types/keys.ts';

export type Admin = Awaited<ReturnType<typeof openAdmin>>;

/** `expiresAt` is in milliseconds since 1970. */
type KeyRequest = Pick<NewKey, 'name' | 'project'> &
  Partial<Pick<NewKey, 'userId' | 'readOnly' | 'metricsOnly' | 'expiresAt'>>;

export type { BackupContents, Comparison, Finding, Restored };

/** Writes a consistent, verified copy of the database to `target`. The server can keep running. */
export async function backup(databaseUrl: string, target: string): Promise<BackupContents> {
  const path = fileAt(databaseUrl);
  const { backupDatabase } = await import('./storage/sqlite/admin/backup.ts');
  return backupDatabase(path, target);
}

/** Stores in the database that a backup has just been delivered. */
export async function storeBackupTime(databaseUrl: string): Promise<void> {
  const { storeBackupTime: store } = await import('./storage/sqlite/admin/backup.ts');
  store(fileAt(databaseUrl), Date.now());
}

/**
 * Replaces the database with a backup. With `eraseAgain`, erases the users of whose memories in the
 * backup none was left.
 */
export async function restore(
  databaseUrl: string,
  file: string,
  { eraseAgain, now = Date.now() }: { eraseAgain: boolean; now?: number },
): Promise<Restored> {
  const path = fileAt(databaseUrl);
  // Becomes part of the replaced file's new name.
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-');
  const { restoreDatabase } = await import('./storage/sqlite/admin/restore.ts');
  return restoreDatabase(file, path, { stamp, now, eraseAgain });
}

const ownTools =
  'For PostgreSQL, use its own tools: pg_dump and pg_restore, or continuous archiving with ' +
  'pg_basebackup. "memory export" and "memory import" copy the memories of a project.';

/** Returns the path of an SQLite file. Throws for a database on PostgreSQL. */
function fileAt(databaseUrl: string): string {
  const url = checked(databaseUrl);
  if (isPostgres(url)) throw new Error(`this command supports only SQLite. ${ownTools}`);
  return sqlitePath(url);
}

/** Checks the database without changing it. A server may be running. */
export async function doctor(databaseUrl: string, now = Date.now()): Promise<Finding[]> {
  const url = checked(databaseUrl);
  const { diagnose } = isPostgres(url)
    ? await import('./storage/postgres/admin/doctor.ts')
    : await import('./storage/sqlite/admin/doctor.ts');
  return diagnose(locationOf(url), now);
}

/**
 * Copies a database to an empty database of the other backend, or resumes an unfinished copy, and
 * then compares the two databases. With `copies: false`, only compares them. Throws an Error with
 * advice if a server is running or the target contains other data.
 */
export async function migrate(
  from: string,
  to: string,
  {
    copies,
    onCopied,
    onCompared,
  }: { copies: boolean; onCopied: ReportRows; onCompared: ReportRows },
): Promise<{ copiedRows: number; isEqual: boolean; items: Comparison[] }> {
  const [source, target] = await openCopySides(from, to, { create: copies });
  try {
    const copiedRows = copies ? await copyRows(source, target, onCopied) : 0;
    const items = await compare(source, target, onCompared);
    const isEqual = items.every((item) => item.isEqual);
    if (copies && isEqual) await finishCopy(source, target);
    return { copiedRows, isEqual, items };
  } finally {
    source.close();
    target.close();
  }
}

/**
 * Returns the source, then the target. Throws if `create` is false and the target does not exist.
 */
export async function openCopySides(
  from: string,
  to: string,
  { create }: { create: boolean },
): Promise<[CopySide, CopySide]> {
  const [source, target] = [checked(from), checked(to)];
  if (isPostgres(source) === isPostgres(target)) {
    throw new Error(
      'one database must be sqlite:<path> and the other postgres://<host>/<database>. To copy ' +
        'between databases of the same kind, use "memory backup" or pg_dump.',
    );
  }
  const opened = await openCopySide(source, { create: false });
  try {
    return [opened, await openCopySide(target, { create })];
  } catch (error) {
    opened.close();
    throw error;
  }
}

async function openCopySide(url: string, options: { create: boolean }): Promise<CopySide> {
  const { openCopySide: open } = isPostgres(url)
    ? await import('./storage/postgres/admin/copy.ts')
    : await import('./storage/sqlite/admin/copy.ts');
  return open(locationOf(url), options);
}

/** Validates a database URL by the rules for the MEMORY_DATABASE_URL setting. */
function checked(databaseUrl: string): string {
  return readConfig({ MEMORY_DATABASE_URL: databaseUrl }).databaseUrl;
}

/**
 * Opens the database to administer its keys, with or without a running server. Creates it if it
 * does not exist. With `create: false`, throws an Error instead, so that a mistyped path does not
 * create one.
 */
export async function openAdmin(
  databaseUrl: string,
  { create }: { create: boolean } = { create: true },
) {
  const url = checked(databaseUrl);
  const { openEngine } = isPostgres(url)
    ? await import('./storage/postgres/admin/keys.ts')
    : await import('./storage/sqlite/admin/keys.ts');
  const engine = await openEngine(locationOf(url), { create });
  return {
    /** Returns the new key, which cannot be read again. */
    async createKey({ name, project, ...limits }: KeyRequest) {
      const key = makeKey();
      const { userId = null, readOnly = false, metricsOnly = false, expiresAt = null } = limits;
      const kind = { userId, readOnly, metricsOnly };
      const about = { project, name, ...kind, createdAt: Date.now(), expiresAt };
      const { id } = await engine.write(createKey, keyToStore(key, about));
      return { key, id, project, name };
    },
    listKeys: () => engine.readShort(listKeys, undefined),
    /** Returns false if the key does not exist or was already revoked. */
    revokeKey: (id: string) => engine.write(revokeKey, { id, at: Date.now() }),
    close: async () => engine.close(),
  };
}
