import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Connections } from './settings.ts';

/*
 * What SQLite leaves of deleted text. `secure_delete` overwrites a deleted row where it was, but a
 * row that an earlier insert had moved to another page may have left a copy in the unused part of
 * the old one, and the write-ahead log keeps older pages until it starts again. Rebuilding the file
 * and emptying the log removes both. It is done in a thread of its own: reads go on, and writes
 * wait for it.
 */

export type Scrubber = {
  /** Inside a write: remembers that text was erased, until a scrub has ended. */
  note(): void;
  /** Scrubs soon, once for all erasures until then; what was noted before a crash, too. */
  wake(): void;
  stop(): void;
};

/** Erasures come in rows; and the answer should be out before the disk is busy. */
const delayMs = 1_000;
const patienceMs = 30_000;
const tryAgainMs = 60_000;
/** A checkpoint of others is over soon; SQLite does not wait for it, whatever its timeout. */
const checkpointPauseMs = 20;
/** Writes would wait too long for a larger file to be rebuilt: of that only the log is emptied, and
 * the note stays for the operator, who can choose the time. */
const largestRebuilt = 1024 ** 3;

/** Where `keepsLog` says so, it is left to the next start. */
export function createScrubber(
  { reads, writes }: Connections,
  path: string,
  keepsLog: () => boolean,
): Scrubber {
  const note = writes.prepare(
    `INSERT INTO chores (name) VALUES ('scrub') ON CONFLICT DO UPDATE SET noted = noted + 1`,
  );
  const noted = reads.prepare(`SELECT 1 FROM chores WHERE name = 'scrub'`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  function scrub(): void {
    timer = undefined;
    if (noted.get() === null || keepsLog()) return;
    const thread = new Worker(new URL(import.meta.url), { workerData: { scrubbedPath: path } });
    thread.unref();
    thread.once('error', () => {
      timer ??= setTimeout(scrub, tryAgainMs).unref();
    });
  }
  return {
    note: () => note.run(),
    wake() {
      timer ??= setTimeout(scrub, delayMs);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Rebuilds the file, unless it is too large, and empties the log. Throws where others keep it from
 * doing so for long. */
export function scrubDatabase(path: string): void {
  const db = new Database(path);
  db.run(`PRAGMA busy_timeout = ${patienceMs}`);
  db.run('PRAGMA secure_delete = ON');
  db.run('PRAGMA synchronous = FULL');
  const asked = db.prepare<{ noted: number }, []>(`SELECT noted FROM chores WHERE name = 'scrub'`);
  const noted = asked.get()?.noted ?? 0;
  const rebuilt = statSync(path).size <= largestRebuilt;
  if (rebuilt) db.run('VACUUM');
  emptyLog(db);
  if (rebuilt) db.run(`DELETE FROM chores WHERE name = 'scrub' AND noted = ?`, [noted]);
  db.close(false);
}

function emptyLog(db: Database): void {
  const checkpoint = db.prepare<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)');
  const until = performance.now() + patienceMs;
  while (checkpoint.get()?.busy !== 0) {
    if (performance.now() > until) throw new Error('others kept the log from being emptied');
    Bun.sleepSync(checkpointPauseMs);
  }
}

if (!isMainThread && typeof workerData?.scrubbedPath === 'string') {
  scrubDatabase(workerData.scrubbedPath);
  parentPort?.postMessage('done');
}
