import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';
import { asServiceError, isBusy } from './faults.ts';

/**
 * The one writer. What is asked for together commits together: one BEGIN IMMEDIATE … COMMIT for
 * all, a savepoint for each, and nobody hears of success before COMMIT has returned, which with
 * `synchronous=FULL` means that it is on the disk.
 *
 *   write() -> waiting -> (next turn of the event loop) -> savepoint -> COMMIT -> resolved
 *                                                       \-> its own error -> rejected
 */
export type Writer = {
  /** Runs `effect` in the next group. It must be synchronous; what it throws undoes it alone. */
  write<T>(effect: () => T): Promise<T>;
  /** Resolves once nothing waits any more. */
  drained(): Promise<void>;
};

/** A group is cut here, and the next one begins on the next turn, after the reads that wait. */
const maxGroup = 256;
/** Another process writes: an administrator's command, or a scrub. Looked at again this often, */
const busyRetryMs = 5;
/** and for this long, while reads go on. */
const busyPatienceMs = 30_000;

type Waiting = {
  effect: () => unknown;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
};

export function createWriter(db: Database): Writer {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const rollback = db.prepare('ROLLBACK');
  const waiting: Waiting[] = [];
  let busySince: number | null = null;

  function write<T>(effect: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ effect, resolve, reject });
      if (waiting.length === 1 && busySince === null) setImmediate(flush);
    });
  }

  function flush(): void {
    if (waiting.length === 0 || !tryBegin()) return;
    commitGroup(waiting.splice(0, maxGroup));
    if (waiting.length > 0) setImmediate(flush);
  }

  /** Begins a transaction, or sees to it that it is tried again. */
  function tryBegin(): boolean {
    try {
      begin.run();
      busySince = null;
      return true;
    } catch (error) {
      busySince ??= performance.now();
      if (isBusy(error) && performance.now() - busySince < busyPatienceMs) {
        setTimeout(flush, busyRetryMs);
        return false;
      }
      busySince = null;
      refuse(waiting.splice(0), error);
      return false;
    }
  }

  function refuse(group: Waiting[], error: unknown): void {
    const fault = asServiceError(error);
    for (const { reject } of group) reject(fault);
  }

  function commitGroup(group: Waiting[]): void {
    let settle: (() => void)[];
    try {
      settle = group.map(runOne);
      commit.run();
    } catch (error) {
      refuse(group, error);
      endTransaction();
      return;
    }
    for (const tell of settle) tell();
  }

  /** SQLite ends a transaction by itself when the disk fails or is full; else we do. */
  function endTransaction(): void {
    try {
      if (db.inTransaction) rollback.run();
    } catch {
      // Everybody has been told already, and the next BEGIN will say what is wrong.
    }
  }

  /** Returns how to tell the caller, once the group is durable. */
  function runOne({ effect, resolve, reject }: Waiting): () => void {
    savepoint.run();
    try {
      const value = effect() as never;
      release.run();
      return () => resolve(value);
    } catch (error) {
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      const fault = error instanceof ServiceError ? error : asServiceError(error);
      return () => reject(fault);
    }
  }

  async function drained(): Promise<void> {
    // A write of nothing is answered after all that waited before it.
    await write(() => {});
  }

  return { write, drained };
}
