import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { count } from '../../../metrics/counts.ts';
import { announced } from '../../../threads/serve.ts';
import { applySetting, openForWriting } from '../settings.ts';
import type { Checkpoints } from './checkpoints.ts';

/** A rebuild waits until nothing has been written for this time … */
const quietMs = 1_000;
/** … but at most for this time after the first erasure. */
const maxWaitMs = 5 * 60_000;
/** The pause after a rebuild, as a multiple of its duration. */
const pauseFactor = 100;
/** The maximum pause, so that erased text is normally removed within ten minutes. */
const maxPauseMs = 9 * 60_000;
const retryMs = 10_000;
/** A larger file is not rebuilt, because that would block writes for too long. */
export const maxRebuiltBytes = 1024 ** 3;

/**
 * Removes the traces of deleted text. `secure_delete` overwrites a deleted row in place, but an
 * older copy of the row may remain in an unused part of another page or in the write-ahead log.
 * Together, rebuilding the file and truncating the log remove both. A rebuild blocks writes, so it
 * waits for a moment without writes, and is followed by a proportional pause.
 */
export function createScrubber(options: {
  db: Database;
  path: string;
  checkpoints: Checkpoints;
  warn(message: string, error: unknown): void;
}) {
  const { db, path, checkpoints, warn } = options;
  const note = db.prepare(
    `INSERT INTO maintenance (name, value) SELECT 'scrub', 1
     WHERE EXISTS (SELECT 1 FROM maintenance WHERE name = 'deleted')
     ON CONFLICT DO UPDATE SET value = value + 1`,
  );
  const noteDeleted = db.prepare(
    `INSERT INTO maintenance (name, value) VALUES ('deleted', 1) ON CONFLICT DO NOTHING`,
  );
  const noted = db.prepare<{ value: number }, []>(
    `SELECT value FROM maintenance WHERE name = 'scrub'`,
  );
  const done = db.prepare(`DELETE FROM maintenance WHERE name = 'scrub' AND value = ?`);
  const forgetDeleted = db.prepare(`DELETE FROM maintenance WHERE name = 'deleted'`);
  let isNoted = noted.get() !== null;
  let writtenAt = performance.now();
  let latest = writtenAt + maxWaitMs;
  let notBefore = writtenAt;
  /** The value of the `scrub` row when the file was last rebuilt. */
  let rebuilt: number | null = null;

  function scrub(): void {
    const { value } = noted.get() ?? { value: null };
    isNoted = value !== null; // mutate-ignore removal: without a note, the row is read again
    if (value === null) return;
    const isSmall = statSync(path).size <= maxRebuiltBytes;
    if (isSmall && rebuilt !== value) {
      // Clear the `deleted` row first, because the rebuild does not cover later deletions.
      forgetDeleted.run();
      rebuild(path);
      count('memory_database_rebuilds_total', {});
      rebuilt = value;
    }
    if (!checkpoints.emptyLog()) return;
    if (isSmall) {
      done.run(value);
      // The next erasure restarts the value at 1.
      rebuilt = null;
    }
    isNoted = noted.get() !== null && isSmall;
  }

  /** A failed rebuild is also followed by a pause, because it may have taken just as long. */
  function pauseAfter(begun: number): void {
    const took = performance.now() - begun;
    const pause = Math.min(maxPauseMs, took * pauseFactor);
    // mutate-ignore negation: affects only when the next rebuild begins
    notBefore = performance.now() + (isNoted ? Math.max(pause, retryMs) : pause);
  }

  return {
    /** Called when a memory is deleted. The next erasure of a user then requires a rebuild. */
    noteDeleted: () => void noteDeleted.run(),
    /** Called when a user is erased. All traces of deleted text must then be removed. */
    noteErased(): void {
      if (note.run().changes === 0) return;
      if (!isNoted) latest = performance.now() + maxWaitMs;
      isNoted = true;
    },
    /** Called after each commit. */
    noteWritten(): void {
      writtenAt = performance.now();
    },
    runIfDue(): void {
      const begun = performance.now();
      // After a failed sync, truncating the WAL could lose pages that the file lacks.
      // mutate-ignore operand: without a note, the row is read again
      if (!isNoted || begun < notBefore || checkpoints.syncFailed()) return;
      if (begun < Math.min(writtenAt + quietMs, latest)) return;
      try {
        announced(scrub);
        pauseAfter(begun);
      } catch (error) {
        pauseAfter(begun);
        warn('erased text has not been removed from the database file yet', error);
      }
    },
  };
}

/**
 * Rebuilds the file on a separate connection, which keeps the copy in a temporary file next to the
 * database. The other connections keep their temporary data in memory.
 */
function rebuild(path: string): void {
  using db = openForWriting(path);
  applySetting(db, 'wal_autocheckpoint', 0);
  applySetting(db, 'temp_store', 1);
  // A rebuild reads each page once, and has two caches of this size: 2 MiB each.
  applySetting(db, 'cache_size', -2_048);
  db.run(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`);
  db.run('VACUUM');
}
