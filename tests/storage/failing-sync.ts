import { Database, SQLiteError } from 'bun:sqlite';
import { isMainThread, workerData } from 'node:worker_threads';

/** Only SQLite itself can create instances of its error class. */
const syncFault = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });

/**
 * The disk fails to sync the database file and reports it once, to the first checkpoint that is
 * made by this method of its statement: the checkpoint thread calls `all`, the writer `get`. The
 * kernel then forgets the error, and later syncs seem to succeed. For a module that every thread of
 * a storage preloads.
 */
export function failFirstSync(method: 'all' | 'get'): void {
  if (isMainThread || typeof workerData?.path !== 'string') return;
  const isOfSqlite = SQLiteError[Symbol.hasInstance];
  Object.defineProperty(SQLiteError, Symbol.hasInstance, {
    value: (error: unknown) => error === syncFault || isOfSqlite.call(SQLiteError, error),
  });
  const { prepare } = Database.prototype;
  let hasFailed = false;
  Database.prototype.prepare = function prepareFaulty(this: Database, sql: string) {
    const statement = prepare.call(this, sql);
    const run = statement[method] as typeof statement.all;
    if (sql !== 'PRAGMA wal_checkpoint(PASSIVE)') return statement;
    statement[method] = ((...values) => {
      if (hasFailed) return run.apply(statement, values);
      hasFailed = true;
      throw syncFault;
    }) as typeof statement.all;
    return statement;
  } as typeof prepare;
}
