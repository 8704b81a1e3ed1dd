import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';
import { asServiceError } from './faults.ts';

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
  /** Commits what waits now. */
  flush(): void;
};

/** A group is cut here, so that reads get a turn in between. */
const maxGroup = 256;

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
  let waiting: Waiting[] = [];

  function write<T>(effect: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ effect, resolve, reject });
      if (waiting.length === 1) setImmediate(flush);
    });
  }

  function flush(): void {
    while (waiting.length > maxGroup) commitGroup(waiting.splice(0, maxGroup));
    const group = waiting;
    waiting = [];
    if (group.length > 0) commitGroup(group);
  }

  function commitGroup(group: Waiting[]): void {
    let settle: (() => void)[];
    try {
      begin.run();
      settle = group.map(runOne);
      commit.run();
    } catch (error) {
      const fault = asServiceError(error);
      for (const { reject } of group) reject(fault);
      // SQLite ends a transaction by itself when the disk fails or is full.
      if (db.inTransaction) rollback.run();
      return;
    }
    for (const tell of settle) tell();
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

  return { write, flush };
}
