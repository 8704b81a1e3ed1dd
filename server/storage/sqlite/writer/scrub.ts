import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { announced } from '../../../threads/serve.ts';

/*
 * What SQLite leaves of deleted text. `secure_delete` overwrites a deleted row where it was, but a
 * row that was moved to another page may have left a copy in the unused part of the old one, and
 * the write-ahead log keeps older pages until it starts again. Rebuilding the file and emptying the
 * log removes both. Writes wait meanwhile, so a rebuild is followed by a pause in proportion.
 */

/** Inside a write: remembers what was deleted, until a scrub has ended. */
export type ScrubNote = {
  /** Something was deleted. The next erasure of a user is worth a rebuild. */
  noteDeleted(): void;
  /** A user was erased: what was deleted since the last rebuild is to leave the file. */
  noteErased(): void;
};

export type Scrubber = ScrubNote & {
  /** Scrubs when it is due. Runs outside of any transaction. */
  runIfDue(): void;
};

/** Erasures come in rows; one rebuild serves all of them. */
const delayMs = 1_000;
/** A rebuild may take one part in so many of the time. */
const pauseFactor = 100;
/** Erased text is gone within ten minutes, however long a rebuild takes. */
const maxPauseMs = 9 * 60_000;
const retryMs = 10_000;
/** Readers of an older state keep the log from being emptied: it is tried this long at a time. */
const emptyLogTimeoutMs = 100;
/** A larger file would hold up writes too long: only its log is emptied, and the note stays for the
 * operator, who can choose the time. */
export const maxRebuiltBytes = 1024 ** 3;

export function createScrubber(options: {
  db: Database;
  path: string;
  warn(message: string, error: unknown): void;
}): Scrubber {
  const { db, path, warn } = options;
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
  let notBefore = performance.now() + delayMs;
  /** The note for which the file was rebuilt and only the log could not be emptied. */
  let rebuilt: number | null = null;

  function scrub(): void {
    const { value } = noted.get() ?? { value: null };
    isNoted = value !== null;
    if (value === null) return;
    const isSmall = statSync(path).size <= maxRebuiltBytes;
    if (isSmall && rebuilt !== value) {
      // First: what is deleted from here on is not part of the rebuild.
      forgetDeleted.run();
      db.run('VACUUM');
    }
    rebuilt = value;
    const isEmptied = emptyLog(db);
    if (!isEmptied) return;
    if (isSmall) done.run(value);
    isNoted = noted.get() !== null && isSmall;
  }

  return {
    noteDeleted: () => void noteDeleted.run(),
    noteErased() {
      if (note.run().changes === 0) return;
      if (!isNoted) notBefore = Math.max(notBefore, performance.now() + delayMs);
      isNoted = true;
    },
    runIfDue() {
      const begun = performance.now();
      if (!isNoted || begun < notBefore) return;
      try {
        announced(scrub);
        const took = performance.now() - begun;
        const pause = Math.min(maxPauseMs, took * pauseFactor);
        notBefore = performance.now() + (isNoted ? Math.max(pause, retryMs) : pause);
      } catch (error) {
        notBefore = performance.now() + retryMs;
        warn('erased text could not be removed from the database file yet; trying again', error);
      }
    },
  };
}

/** False where a reader kept it from being emptied. */
function emptyLog(db: Database): boolean {
  const { timeout } = db.prepare('PRAGMA busy_timeout').get() as { timeout: number };
  db.run(`PRAGMA busy_timeout = ${emptyLogTimeoutMs}`);
  try {
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    return busy === 0;
  } finally {
    db.run(`PRAGMA busy_timeout = ${timeout}`);
  }
}
