import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';

/*
 * A checkpoint writes the log's pages into the file and waits for the disk. Inside a commit it
 * would hold up everybody for tens of milliseconds, so a thread of its own makes it
 * (checkpoint/thread.ts). Under constant writes that thread never catches up entirely, and
 * the log would only grow: once it is long, the writer makes the last, short part itself, and the
 * next write begins the log again.
 */
export type Checkpoints = {
  /** After each group of writes. */
  committed(): void;
  /** The thread has done what it could. */
  made(outcome: CheckpointOutcome): void;
};

/** `syncFailed`: the file may lack what only the log has, and no later sync would say so. */
export type CheckpointOutcome = { syncFailed: boolean };

type Log = { log: number; checkpointed: number };

const lookEveryMs = 50;
/** Pages that are worth a checkpoint. The more, the more often the same page is among them. */
const minPages = 4_000;
/** 32 MB: the log is to begin again. */
const longLogPages = 8_000;
/** A log that a long read let grow beyond this is given back to the file system. */
const maxLogBytes = 64 * 1024 * 1024;

export function createCheckpoints(options: {
  db: Database;
  path: string;
  /** Asks the thread for a checkpoint. */
  request(): void;
}): Checkpoints {
  const { db, path, request } = options;
  // Looks, and does nothing.
  const look = db.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  const checkpoint = db.prepare<Log, []>('PRAGMA wal_checkpoint(PASSIVE)');
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  let lookedAt = performance.now();
  let isRequested = false;
  let hasFailed = false;

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
      if (log >= longLogPages && log > checkpointed) finish();
    },
  };
}
