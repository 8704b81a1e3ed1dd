import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { isSyncFault } from '../errors.ts';

/*
 * A checkpoint writes the log's pages to the file and waits for the disk. Inside a commit it would
 * block all writes for tens of milliseconds, so a separate thread does it (checkpoint/thread.ts).
 * Under constant writes that thread never catches up entirely, and the log would keep growing. Once
 * it is long, the writer checkpoints the short rest itself, and the next write restarts the log.
 */
export type Checkpoints = {
  /** Called after each group of writes. */
  committed(): void;
  /** Called after a checkpoint of the thread. Returns whether a sync of the file ever failed. */
  made(outcome: CheckpointOutcome): boolean;
};

/** `syncFailed`: the file may lack pages of the log, and no later sync would report it. */
export type CheckpointOutcome = { syncFailed: boolean };

type Log = { log: number; checkpointed: number };

const lookEveryMs = 50;
/** The number of pages for a checkpoint. The more there are, the more of them are duplicates. */
const minPages = 4_000;
/** 32 MB, from which on the log is restarted. */
const longLogPages = 8_000;
/** A log that grew beyond this, because of a long read, is truncated. */
const maxLogBytes = 64 * 1024 * 1024;

export function createCheckpoints(options: {
  db: Database;
  path: string;
  /** Asks the thread for a checkpoint. */
  request(): void;
}): Checkpoints {
  const { db, path, request } = options;
  // Returns the sizes without making a checkpoint.
  const look = db.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  const checkpoint = db.prepare<Log, []>('PRAGMA wal_checkpoint(PASSIVE)');
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  let lookedAt = performance.now();
  let isRequested = false;
  let hasFailed = false;

  /** SQLite syncs the file with the last page of the log, so it is often this that fails. */
  function finish(): void {
    try {
      const { log, checkpointed } = checkpoint.get() ?? { log: 0, checkpointed: 0 };
      if (log === checkpointed && statSync(`${path}-wal`).size > maxLogBytes) truncate.all();
    } catch (error) {
      // After any other error a later checkpoint continues.
      hasFailed = isSyncFault(error);
    }
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
      if (hasFailed) return true;
      const { log, checkpointed } = look.get() ?? { log: 0, checkpointed: 0 };
      if (log >= longLogPages && log > checkpointed) finish();
      return hasFailed;
    },
  };
}
