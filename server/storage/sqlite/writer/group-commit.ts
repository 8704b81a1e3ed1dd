import type { Database } from 'bun:sqlite';
import type { Incoming } from '../../../threads/serve.ts';
import { unavailable } from '../../refusals.ts';
import { notCommitted, notStored } from '../errors.ts';
import type { WriteHealth } from './health.ts';

/**
 * All writes that arrived together share one BEGIN IMMEDIATE … COMMIT, each in a savepoint of its
 * own, and nobody hears of success before COMMIT returned: with `synchronous=FULL` the log is on
 * the disk then, and not before is any of it visible to a reader.
 *
 *   take -> waiting -> savepoint -> COMMIT -> reply
 *                 \-> its own error: it alone is undone -> fail
 *                  \-> unfinished: what it did is committed, and it waits again
 */
export type GroupCommit = {
  take(call: Incoming): void;
  /** Commits what waits. */
  flush(): void;
};

/** Returned by an operation that has done a part and is to be run again in the next group. */
export const unfinished = Symbol('unfinished');

/** Runs one operation inside the transaction and returns how to reply. */
export type RunCall = (call: Incoming) => (() => void) | typeof unfinished;

export function createGroupCommit(options: {
  db: Database;
  health: WriteHealth;
  run: RunCall;
  /** After each group, once its replies may be sent. */
  settled(): void;
}): GroupCommit {
  const { db, health, run, settled } = options;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const rollback = db.prepare('ROLLBACK');
  let waiting: Incoming[] = [];
  let isPlanned = false;

  function plan(): void {
    if (!isPlanned) setImmediate(flush);
    isPlanned = true;
  }

  function flush(): void {
    isPlanned = false;
    const group = waiting;
    waiting = [];
    const fault = health.check();
    if (fault === null) commitGroup(group);
    else failAll(group, unavailable(`${fault}; nothing was stored`));
    settled();
    if (waiting.length > 0) plan();
  }

  function commitGroup(group: Incoming[]): void {
    const outcomes: (() => void)[] = [];
    let asError = notStored;
    try {
      begin.run();
      for (const call of group) outcomes.push(runOne(call));
      asError = notCommitted;
      commit.run();
    } catch (error) {
      endTransaction();
      health.note(error);
      failAll(group, asError(error));
      return;
    }
    for (const reply of outcomes) reply();
  }

  function runOne(call: Incoming): () => void {
    savepoint.run();
    try {
      const outcome = run(call);
      release.run();
      return outcome === unfinished ? () => waiting.push(call) : outcome;
    } catch (error) {
      health.note(error);
      // A failing disk ends the whole transaction.
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      return () => call.fail(notStored(error));
    }
  }

  function failAll(group: Incoming[], error: unknown): void {
    for (const call of group) call.fail(error);
  }

  /** SQLite ends a transaction by itself when the disk fails or is full; otherwise we do. */
  function endTransaction(): void {
    try {
      if (db.inTransaction) rollback.run();
    } catch {
      // The callers hear of the first error, and the next BEGIN says what is wrong.
    }
  }

  return {
    take(call) {
      waiting.push(call);
      plan();
    },
    flush,
  };
}
