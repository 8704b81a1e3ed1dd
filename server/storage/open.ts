import type { ConnectedStorage, OpenOptions, Storage } from './storage.ts';

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

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/.test(url);
}

/** Returns the URL of a server, or the path of a file. */
export function locationOf(url: string): string {
  return isPostgres(url) ? url : sqlitePath(url);
}

export function sqlitePath(url: string): string {
  return url.slice('sqlite:'.length).replace(/^\/\/\//, '/');
}
