import { Database, SQLiteError } from 'bun:sqlite';
import { isMainThread, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage: the disk fails to sync the database file and reports it
 * once, to the first checkpoint. The kernel then forgets the error, and later syncs seem to
 * succeed.
 */

const isOfStorage = !isMainThread && typeof workerData?.path === 'string';
const { prepare } = Database.prototype;
let hasFailed = false;

/** Only SQLite itself can create instances of its error class. */
const syncFault = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });

if (isOfStorage) {
  const isOfSqlite = SQLiteError[Symbol.hasInstance];
  Object.defineProperty(SQLiteError, Symbol.hasInstance, {
    value: (error: unknown) => error === syncFault || isOfSqlite.call(SQLiteError, error),
  });
  Database.prototype.prepare = function prepareFaulty(this: Database, sql: string) {
    const statement = prepare.call(this, sql);
    const { all } = statement;
    if (sql !== 'PRAGMA wal_checkpoint(PASSIVE)') return statement;
    statement.all = (...values) => {
      if (hasFailed) return all.apply(statement, values);
      hasFailed = true;
      throw syncFault;
    };
    return statement;
  } as typeof prepare;
}
