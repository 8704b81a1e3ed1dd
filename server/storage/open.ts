import type { BackupContents, Finding, KeyAdmin, Restored } from './admin-storage.ts';
import type { ConnectedStorage } from './connected-storage.ts';
import type { CopySide } from './copy/side.ts';
import type { OpenOptions as FileOptions } from './sqlite/open.ts';
import type { Storage } from './storage.ts';

export type OpenOptions = FileOptions & {
  /** How long to wait for a database server that is starting. */
  startWithinMs?: number;
};

/** Opens the storage at the URL. Throws an Error with advice if the storage cannot be opened. */
export async function openStorage(url: string, options: OpenOptions = {}): Promise<Storage> {
  if (isPostgres(url)) {
    const { openPostgres } = await import('./postgres/open.ts');
    return openPostgres(url, options);
  }
  const { openSqlite } = await import('./sqlite/open.ts');
  return openSqlite(sqlitePath(url), options);
}

type Connection =
  | { kind: 'sqlite'; path: string; port: MessagePort }
  | { kind: 'postgres'; url: string };

/**
 * Connects to the storage that another thread has opened. `data` comes from that storage's
 * `connection` method.
 */
export async function connectStorage(data: unknown): Promise<ConnectedStorage> {
  const connection = data as Connection;
  if (connection.kind === 'postgres') {
    const { connectPostgres } = await import('./postgres/open.ts');
    return connectPostgres(connection);
  }
  const { connectSqlite } = await import('./sqlite/client.ts');
  return connectSqlite(connection);
}

/**
 * Opens a database to manage its API keys. Throws if the database does not exist and `create` is
 * false.
 */
export async function openKeyAdmin(url: string, options: { create: boolean }): Promise<KeyAdmin> {
  const { openKeyAdmin: open } = isPostgres(url)
    ? await import('./postgres/admin/keys.ts')
    : await import('./sqlite/admin/keys.ts');
  return open(locationOf(url), options);
}

export async function diagnose(url: string, now: number): Promise<Finding[]> {
  const { diagnose: look } = isPostgres(url)
    ? await import('./postgres/admin/doctor.ts')
    : await import('./sqlite/admin/doctor.ts');
  return look(locationOf(url), now);
}

const ownTools =
  'For PostgreSQL, use its own tools: pg_dump and pg_restore, or continuous archiving with ' +
  'pg_basebackup. "memory export" and "memory import" copy the memories of a project.';

export async function backupDatabase(url: string, target: string): Promise<BackupContents> {
  if (isPostgres(url)) throw new Error(`this command supports only SQLite. ${ownTools}`);
  const { backupDatabase: copy } = await import('./sqlite/admin/backup.ts');
  return copy(sqlitePath(url), target);
}

export async function storeBackupTime(url: string, at: number): Promise<void> {
  const { storeBackupTime: store } = await import('./sqlite/admin/backup.ts');
  store(sqlitePath(url), at);
}

/** Replaces the database with the backup. Keeps the old file under a name that contains `stamp`. */
export async function restoreDatabase(
  url: string,
  file: string,
  options: { stamp: string; now: number; eraseAgain: boolean },
): Promise<Restored> {
  if (isPostgres(url)) throw new Error(`this command supports only SQLite. ${ownTools}`);
  const { restoreDatabase: putBack } = await import('./sqlite/admin/restore.ts');
  return putBack(file, sqlitePath(url), options);
}

/**
 * Returns the source, then the target. Throws if `create` is false and the target does not exist.
 */
export async function openCopySides(
  source: string,
  target: string,
  { create }: { create: boolean },
): Promise<[CopySide, CopySide]> {
  if (isPostgres(source) === isPostgres(target)) {
    throw new Error(
      'one database must be sqlite:<path> and the other postgres://<host>/<database>. To copy ' +
        'between databases of the same kind, use "memory backup" or pg_dump.',
    );
  }
  const from = await openCopySide(source, { create: false });
  try {
    return [from, await openCopySide(target, { create })];
  } catch (error) {
    from.close();
    throw error;
  }
}

async function openCopySide(url: string, options: { create: boolean }): Promise<CopySide> {
  const { openCopySide: open } = isPostgres(url)
    ? await import('./postgres/admin/copy.ts')
    : await import('./sqlite/admin/copy.ts');
  return open(locationOf(url), options);
}

function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/.test(url);
}

/** Returns the URL of a server, or the path of a file. */
function locationOf(url: string): string {
  return isPostgres(url) ? url : sqlitePath(url);
}

export function sqlitePath(url: string): string {
  return url.slice('sqlite:'.length).replace(/^\/\/\//, '/');
}
