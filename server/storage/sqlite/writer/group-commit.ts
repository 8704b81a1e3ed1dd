import type { Database } from 'bun:sqlite';
import { observe } from '../../../metrics/counts.ts';
import type { Incoming } from '../../../threads/serve.ts';
import { unavailable } from '../../refusals.ts';
import { notCommitted, notStored } from '../errors.ts';
import type { WriteHealth } from './health.ts';

/**
 * Small writes that arrive together share one BEGIN IMMEDIATE … COMMIT, each in its own savepoint.
 * A large write is committed alone. Small writes that arrive in the meantime are committed before
 * the next large write. No write is acknowledged or visible to readers until COMMIT returns. By
 * then, the WAL is on disk because of `synchronous=FULL`.
 *
 *   take -> waiting -> savepoint -> COMMIT -> reply
 *                 \-> error of one operation: its savepoint is rolled back -> fail
 *                  \-> unfinished: the completed part is committed -> waiting
 */
export type GroupCommit = {
  take(call: Incoming, size: 'small' | 'large'): void;
  /** Commits all waiting writes. */
  drain(): void;
};

/** Returned by an operation that did only part of its work and must run again in the next group. */
export const unfinished = Symbol('unfinished');

/** A group ends after this time, because the thread can respond to pings only between groups. */
const maxGroupMs = 100;

/** Runs one operation inside the transaction and returns a function that sends the reply. */
export type RunCall = (call: Incoming) => (() => void) | typeof unfinished;

export function createGroupCommit(options: {
  db: Database;
  health: WriteHealth;
  run: RunCall;
  /** Called after each group, when its replies may be sent. */
  settled(): void;
}): GroupCommit {
  const { db, health, run, settled } = options;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const end = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const rollback = db.prepare('ROLLBACK');
  let small: Incoming[] = [];
  const large: Incoming[] = [];
  let isPlanned = false;

  const isWaiting = () => small.length + large.length > 0;

  function plan(): void {
    if (!isPlanned) setImmediate(flush);
    isPlanned = true;
  }

  function flush(): void {
    isPlanned = false;
    const fault = health.check();
    const together = small;
    small = [];
    commit(together, fault);
    commit(large.splice(0, 1), fault);
    if (isWaiting()) plan();
  }

  function commit(group: Incoming[], fault: string | null): void {
    if (group.length === 0) return;
    if (fault === null) commitGroup(group);
    else failAll(group, unavailable(`${fault}; nothing was stored`));
    settled();
  }

  function commitGroup(group: Incoming[]): void {
    // A single write needs no savepoint. Inside a savepoint, SQLite copies every changed page.
    const runOne = group.length === 1 ? runCall : runInSavepoint;
    const replies: (() => void)[] = [];
    let asError = notStored;
    try {
      begin.run();
      const begun = performance.now();
      for (const call of group) {
        replies.push(runOne(call));
        if (performance.now() - begun > maxGroupMs) break;
      }
      asError = notCommitted;
      commitAndCount(replies.length);
    } catch (error) {
      endTransaction();
      health.note(error);
      failAll(group, asError(error));
      return;
    }
    small.unshift(...group.slice(replies.length));
    for (const reply of replies) reply();
  }

  function commitAndCount(writes: number): void {
    const begun = performance.now();
    end.run();
    const seconds = (performance.now() - begun) / 1_000;
    observe('memory_commit_duration_seconds', {}, seconds);
    observe('memory_commit_writes', {}, writes);
  }

  function runInSavepoint(call: Incoming): () => void {
    savepoint.run();
    try {
      const reply = runCall(call);
      release.run();
      return reply;
    } catch (error) {
      health.note(error);
      // After a disk error, SQLite has rolled back the whole transaction.
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      return () => call.fail(notStored(error));
    }
  }

  function runCall(call: Incoming): () => void {
    const outcome = run(call);
    return outcome === unfinished ? () => large.push(call) : outcome;
  }

  function failAll(group: Incoming[], error: unknown): void {
    for (const call of group) call.fail(error);
  }

  /** Rolls back the transaction, unless SQLite has already done so because of a disk error. */
  function endTransaction(): void {
    try {
      if (db.inTransaction) rollback.run();
    } catch {
      // Ignore the error. Callers receive the first error, and the next BEGIN reports the problem
      // again.
    }
  }

  return {
    take(call, size) {
      (size === 'small' ? small : large).push(call);
      plan();
    },
    drain() {
      while (isWaiting()) flush();
    },
  };
}
