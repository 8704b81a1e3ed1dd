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
const scrubPatienceMs = 30_000;
const tryAgainMs = 60_000;
/** While the log waits to be emptied nobody writes: for others to end what they read so long, */
const holdMs = 100;
/** and then everybody may write again for so long. */
const checkpointPauseMs = 400;
/** Writes would wait too long for a larger file to be rebuilt: of that only the log is emptied, and
 * the note stays for the operator, who can choose the time. */
export const largestRebuilt = 1024 ** 3;

export type Report = (message: string, error: unknown) => void;

const failed =
  'erased text could not be removed from the file, which is tried again in a minute; it takes room ' +
  'for a copy beside the file and in the folder for temporary files, and nobody who reads for long';

/** While `keepsLog` says so, it waits. */
export function createScrubber(
  { reads, writes }: Connections,
  path: string,
  { keepsLog, report }: { keepsLog: () => boolean; report: Report },
): Scrubber {
  const note = writes.prepare(
    `INSERT INTO chores (name) VALUES ('scrub') ON CONFLICT DO UPDATE SET noted = noted + 1`,
  );
  const noted = reads.prepare(`SELECT 1 FROM chores WHERE name = 'scrub'`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The note for which the file was rebuilt and only the log could not be emptied. */
  let rebuilt: number | null = null;
  /** Not 0 once the thread is to end, which else would keep the process. */
  const ending = new Int32Array(new SharedArrayBuffer(4));
  let working = false;

  function wake(): void {
    if (ending[0] !== 0) return;
    timer ??= setTimeout(scrub, delayMs);
  }

  function scrub(): void {
    timer = undefined;
    // A log that failed is mended within seconds. A file that failed is left to the next start.
    if (working || keepsLog()) {
      wake();
      return;
    }
    if (noted.get() === null) {
      rebuilt = null;
      return;
    }
    const workerData = { scrubbedPath: path, rebuilt, ending };
    rebuilt = null;
    working = true;
    const thread = new Worker(new URL(import.meta.url), { workerData });
    thread.unref();
    thread.on('message', (noted: number | null) => {
      rebuilt = noted;
    });
    thread.once('exit', () => {
      working = false;
    });
    thread.once('error', (error) => {
      if (ending[0] !== 0) return;
      report(failed, error);
      timer ??= setTimeout(scrub, tryAgainMs).unref();
    });
  }
  return {
    note: () => note.run(),
    wake,
    stop() {
      clearTimeout(timer);
      Atomics.store(ending, 0, 1);
      Atomics.notify(ending, 0);
    },
  };
}

type Task = {
  rebuilt: number | null;
  ending: Int32Array;
  tell: (noted: number | null) => void;
};

/**
 * Rebuilds the file, unless it is too large or `rebuilt` says that it was for this note, and
 * empties the log. Tells the note as soon as the file is rebuilt, and null when all is done. Throws
 * where others keep it from doing so for long.
 */
export function scrubDatabase(path: string, task: Task): void {
  const db = new Database(path);
  try {
    scrubOn(db, path, task);
  } finally {
    // What is left open is closed at the end of the process, and not as it should be.
    db.close(true);
  }
}

function scrubOn(db: Database, path: string, { rebuilt, ending, tell }: Task): void {
  db.run(`PRAGMA busy_timeout = ${scrubPatienceMs}`);
  db.run('PRAGMA secure_delete = ON');
  db.run('PRAGMA synchronous = FULL');
  const asked = db.prepare<{ noted: number }, []>(`SELECT noted FROM chores WHERE name = 'scrub'`);
  const noted = asked.get()?.noted ?? 0;
  const rebuilds = statSync(path).size <= largestRebuilt;
  if (rebuilds && noted !== rebuilt) db.run('VACUUM');
  if (rebuilds) tell(noted);
  emptyLog(db, ending);
  db.run(`PRAGMA busy_timeout = ${scrubPatienceMs}`);
  if (rebuilds) db.run(`DELETE FROM chores WHERE name = 'scrub' AND noted = ?`, [noted]);
  tell(null);
}

function emptyLog(db: Database, ending: Int32Array): void {
  // Most of the work, while others write.
  db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  db.run(`PRAGMA busy_timeout = ${holdMs}`);
  const checkpoint = db.prepare<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)');
  const until = performance.now() + scrubPatienceMs;
  while (checkpoint.get()?.busy !== 0) {
    if (performance.now() > until) throw new Error('others kept the log from being emptied');
    if (Atomics.wait(ending, 0, 0, checkpointPauseMs) !== 'timed-out') {
      throw new Error('the service has stopped; it is done after the next start');
    }
  }
}

if (!isMainThread && typeof workerData?.scrubbedPath === 'string') {
  const { scrubbedPath, rebuilt, ending } = workerData;
  const tell = (noted: number | null) => parentPort?.postMessage(noted);
  scrubDatabase(scrubbedPath, { rebuilt, ending, tell });
}
