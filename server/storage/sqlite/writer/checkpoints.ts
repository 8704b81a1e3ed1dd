import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { isSyncFault } from '../errors.ts';

/**
 * A checkpoint waits for the disk. Inside a commit, it would block all writes, so a separate thread
 * makes checkpoints (checkpoint/thread.ts). Under constant writes, that thread never fully catches
 * up. Once the WAL is long, the writer therefore checkpoints the rest itself, and the next write
 * restarts the WAL.
 */
export type Checkpoints = {
  committed(): void;
  /** Called after the checkpoint thread has made a checkpoint. */
  made(outcome: CheckpointOutcome): void;
  /** Checkpoints and truncates the WAL. Returns false if a reader prevented this. */
  emptyLog(): boolean;
  /** Whether a sync has ever failed, so that the file may lack pages from the WAL. */
  syncFailed(): boolean;
};

/** After a failed sync, no later sync would report that the file lacks pages from the WAL. */
export type CheckpointOutcome = { syncFailed: boolean };

type Log = { log: number; checkpointed: number };

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

export function createCheckpoints(options: {
  db: Database;
  path: string;
  syncFailed: boolean;
  request(): void;
  /** Called when a sync by one of these checkpoints has failed. */
  onSyncFailure(): void;
}): Checkpoints {
  const { db, path, request, onSyncFailure } = options;
  // Returns the length of the WAL without making a checkpoint.
  const look = db.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  const checkpoint = db.prepare<Log, []>('PRAGMA wal_checkpoint(PASSIVE)');
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  let lookedAt = performance.now();
  let isRequested = false;
  let hasFailed = options.syncFailed;

  function watchSync<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (isSyncFault(error)) {
        hasFailed = true;
        onSyncFailure();
      }
      throw error;
    }
  }

  /** Writes the rest of the WAL to the file and syncs the file. */
  function finish(): void {
    const { log, checkpointed } = checkpoint.get() ?? { log: 0, checkpointed: 0 };
    if (log === checkpointed && statSync(`${path}-wal`).size > maxLogBytes) truncate.all();
  }

  return {
    committed() {
      const now = performance.now();
      if (isRequested || hasFailed || now - lookedAt < lookEveryMs) return;
      lookedAt = now;
      const { log, checkpointed } = look.get() ?? { log: 0, checkpointed: 0 };
      if (log - checkpointed < minPages) return;
      isRequested = true;
      request();
    },
    made({ syncFailed }) {
      isRequested = false;
      hasFailed ||= syncFailed;
      if (hasFailed) return;
      const { log, checkpointed } = look.get() ?? { log: 0, checkpointed: 0 };
      if (log < longLogPages || log === checkpointed) return;
      try {
        watchSync(finish);
      } catch {
        // After any error other than a failed sync, a later checkpoint continues.
      }
    },
    emptyLog() {
      const { timeout } = db.prepare('PRAGMA busy_timeout').get() as { timeout: number };
      db.run(`PRAGMA busy_timeout = ${emptyLogTimeoutMs}`);
      try {
        const { busy } = watchSync(() => truncate.get() as { busy: number });
        return busy === 0;
      } finally {
        db.run(`PRAGMA busy_timeout = ${timeout}`);
      }
    },
    syncFailed: () => hasFailed,
  };
}
