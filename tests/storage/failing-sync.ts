import { Database, SQLiteError } from 'bun:sqlite';
import { isOfSqlite } from '../support/preloaded.ts';

/**
 * Simulates a disk that fails to sync the database file. `code` selects another SQLite error. The
 * first checkpoint that calls `method` on its statement throws: the checkpoint thread calls `all`,
 * the writer calls `get`. Later syncs seem to succeed, because the kernel reports an error only
 * once. The caller is a module that every thread of a storage preloads.
 */
export function failFirstCheckpoint(
  method: 'all' | 'get',
  { mode = 'PASSIVE', code = 'SQLITE_IOERR_FSYNC' } = {},
): void {
  if (!isOfSqlite) return;
  // A plain error, because only bun:sqlite can create instances of SQLiteError.
  const fault = Object.assign(new Error('disk I/O error'), { code });
  const isInstance = SQLiteError[Symbol.hasInstance];
  Object.defineProperty(SQLiteError, Symbol.hasInstance, {
    value: (error: unknown) => error === fault || isInstance.call(SQLiteError, error),
  });
  const { prepare } = Database.prototype;
  let hasFailed = false;
  Database.prototype.prepare = function prepareFaulty(this: Database, sql: string) {
    const statement = prepare.call(this, sql);
    const run = statement[method] as typeof statement.all;
    if (sql !== `PRAGMA wal_checkpoint(${mode})`) return statement;
    statement[method] = ((...values) => {
      if (hasFailed) return run.apply(statement, values);
      hasFailed = true;
      throw fault;
    }) as typeof statement.all;
    return statement;
  } as typeof prepare;
}
