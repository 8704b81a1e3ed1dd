import type { MessagePort } from 'node:worker_threads';
import type { OpenOptions } from './sqlite/open.ts';
import type { Storage } from './storage.ts';
import type { TaskStorage } from './task-storage.ts';

/* Apart from main.ts and admin.ts, the only file that knows which backends there are. */

/** Opens the storage that the URL names. Throws an Error that says what to do. */
export async function openStorage(url: string, options: OpenOptions): Promise<Storage> {
  const { openSqlite } = await import('./sqlite/open.ts');
  return openSqlite(sqlitePath(url), options);
}

/** The storage that another thread of this process has open, by what its `connection` gave. */
export async function connectStorage(connection: unknown): Promise<TaskStorage> {
  const { connectSqlite } = await import('./sqlite/open.ts');
  return connectSqlite(connection as { path: string; port: MessagePort });
}

/** The path of `sqlite:<path>`. */
export function sqlitePath(url: string): string {
  return url.slice('sqlite:'.length).replace(/^\/\/\//, '/');
}
