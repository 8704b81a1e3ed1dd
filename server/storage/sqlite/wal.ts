import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { ServiceError } from '../../errors.ts';
import { outcomeUnknown, retryAfterSeconds } from './faults.ts';

/*
 * The way of the write-ahead log to the disk. Where a group of writes commits, COMMIT only writes
 * the log (`synchronous=NORMAL`), and the writer waits for the disk here, in a thread of the pool,
 * while requests are served. SQLite's own waiting would hold up everybody, for 10 to 20 ms where a
 * checkpoint keeps the disk busy.
 */
export type Wal = {
  /**
   * Resolves once all that was committed before is on the disk. Throws `internal` where the disk
   * reports a fault: the outcome is unknown then.
   */
  sync(): Promise<void>;
  /** Says that a sync of SQLite's own failed. */
  noteFault(): void;
  /** Whether something may be in the log that the disk does not have, until `mend` succeeds. */
  hasFailed(): boolean;
  /**
   * Makes up for a sync that failed. Called inside a transaction, so that nobody else writes.
   * Throws `unavailable` where the disk still does not take it.
   */
  mend(): void;
  close(): void;
};

const rewrittenBytes = 1024 * 1024;

const syncInPool = promisify(fdatasync);

export function createWal(path: string): Wal {
  let opened: number | null = null;
  let failed = false;

  /** SQLite has made the log before anything is committed, and keeps it until all have closed. */
  function file(): number {
    opened ??= openSync(`${path}-wal`, 'r+');
    return opened;
  }

  return {
    async sync() {
      try {
        await syncInPool(file());
      } catch (error) {
        failed = true;
        throw outcomeUnknown(error);
      }
    },
    noteFault() {
      failed = true;
    },
    hasFailed: () => failed,
    mend() {
      try {
        writeAgain(file());
        fdatasyncSync(file());
      } catch (cause) {
        const message = 'the disk does not take what is written; nothing was stored';
        throw new ServiceError('unavailable', message, { retryAfterSeconds, cause });
      }
      failed = false;
    },
    close() {
      if (opened !== null) closeSync(opened);
      opened = null;
    },
  };
}

/**
 * After a failed sync the system may take for written what it could not write, and the next sync
 * would succeed and mean nothing. What is written once more has to be synced once more.
 */
function writeAgain(file: number): void {
  const bytes = Buffer.alloc(rewrittenBytes);
  const { size } = fstatSync(file);
  for (let at = 0; at < size; ) {
    const read = readSync(file, bytes, 0, rewrittenBytes, at);
    if (read === 0) break;
    at += writeSync(file, bytes, 0, read, at);
  }
}
