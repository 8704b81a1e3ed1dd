import { Database } from 'bun:sqlite';
import { isMainThread } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. Limits the size of the writer's database. A write over the
 * limit fails as on a full disk.
 */
if (!isMainThread) {
  const { run } = Database.prototype;
  Database.prototype.run = function runOnSmallDisk(this: Database, sql, ...more) {
    if (sql === 'PRAGMA wal_autocheckpoint = 0') run.call(this, 'PRAGMA max_page_count = 100');
    return run.call(this, sql, ...more);
  } as typeof run;
}
