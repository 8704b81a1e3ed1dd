import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { isSyncFault } from '../errors.ts';

/** After a failed sync, no later sync would report that the file lacks pages from the WAL. */
export type CheckpointOutcome = { syncFailed: boolean };

type Log = { busy: number; log: number; checkpointed: number };

const lookEveryMs = 50;
/**
 * The number of pages that triggers a checkpoint. A higher number saves writes, because a page that
 * changes several times is written only once.
 */
const minPages = 4_000;
/** A WAL of this length (32 MB) is checkpointed completely, so that SQLite restarts it. */
const longLogPages = 8_000;
/** A WAL that grew beyond this size during a long read is truncated. */
const maxLogBytes = 64 * 1024 * 1024;
/**
 * How long to wait for readers of an older snapshot, which prevent the WAL from being truncated.
 */
const emptyLogTimeoutMs = 100;

export type Checkpoints = ReturnType<typeof createCheckpoints>;

/**
 * A checkpoint waits for the disk. Inside a commit, it would block all writes, so a separate thread
 * makes checkpoints (checkpoint/thread.ts). Under constant writes, that thread never fully catches
 * up. Once the WAL is long, the writer therefore checkpoints the rest itself. The next commit then
 * restarts the WAL from its beginning, unless a reader still uses the WAL. New reads are therefore
 * held back until the running ones have ended and the writer has finished.
 */
export function createCheckpoints(options: {
  db: Database;
  path: string;
  request(checkpoint: { isLong: boolean }): void;
  /** Called when a sync by one of these checkpoints has failed. */
  onSyncFailure(): void;
}) {
  const { db, path, request, onSyncFailure } = options;
  // Returns the length of the WAL without making a checkpoint.
  const look = db.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  const checkpoint = db.prepare<Log, []>('PRAGMA wal_checkpoint(PASSIVE)');
  const truncate = db.prepare<Log, []>('PRAGMA wal_checkpoint(TRUNCATE)');
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isRequested = false;
  /** The length of the WAL when the last checkpoint was requested, in pages. */
  let requestedLog = Number.NEGATIVE_INFINITY;
  let hasFailed = false;

  function run(statement: typeof checkpoint): Log {
    try {
      // mutate-ignore constant: SQLite always returns a row
      return statement.get() ?? { busy: 0, log: 0, checkpointed: 0 };
    } catch (error) {
      if (isSyncFault(error)) {
        hasFailed = true;
        onSyncFailure();
      }
      throw error;
    }
  }

  /** Returns null if SQLite cannot tell, as on a read-only file system. */
  function lengthOfLog(): Log | null {
    try {
      return run(look);
    } catch {
      return null;
    }
  }

  function truncateWithin(timeoutMs: number): boolean {
    const { timeout } = db.prepare('PRAGMA busy_timeout').get() as { timeout: number };
    db.run(`PRAGMA busy_timeout = ${timeoutMs}`);
    try {
      return run(truncate).busy === 0;
    } finally {
      db.run(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  return {
    committed(): void {
      const now = performance.now();
      // mutate-ignore removal: affects only speed
      // mutate-ignore operand: affects only speed
      if (isRequested || hasFailed || now - lookedAt < lookEveryMs) return;
      lookedAt = now;
      const length = lengthOfLog();
      if (length === null || length.log - length.checkpointed < minPages) return;
      const { log } = length;
      // If a long read stopped the last checkpoint, wait until the WAL has grown as much again. The
      // WAL is shorter than at the last checkpoint if it has been restarted.
      const grown = log - requestedLog;
      // mutate-ignore boundary: a commit lengthens the WAL
      // mutate-ignore constant: a commit lengthens the WAL
      if (grown >= 0 && grown < minPages) return;
      requestedLog = log;
      isRequested = true;
      request({ isLong: log >= longLogPages });
    },
    /** Called after the checkpoint thread has made a checkpoint. */
    made({ syncFailed }: CheckpointOutcome): void {
      isRequested = false;
      hasFailed ||= syncFailed;
    },
    /** Checkpoints the rest of the WAL. Called while no reader thread has a transaction open. */
    finish(): void {
      if (hasFailed) return;
      try {
        const { log, checkpointed } = run(checkpoint);
        const isFinished = log === checkpointed;
        if (isFinished && statSync(`${path}-wal`).size > maxLogBytes) truncateWithin(0);
      } catch {
        // After any error other than a failed sync, a later checkpoint continues.
      }
    },
    /** Checkpoints and truncates the WAL. Returns false if a reader prevented this. */
    emptyLog: () => truncateWithin(emptyLogTimeoutMs),
    /** Whether a sync has ever failed, so that the file may lack pages from the WAL. */
    syncFailed: () => hasFailed,
  };
}
