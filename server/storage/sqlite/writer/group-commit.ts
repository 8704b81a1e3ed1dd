import type { Database } from 'bun:sqlite';
import type { Incoming } from '../../../threads/serve.ts';
import { unavailable } from '../../refusals.ts';
import { notCommitted, notStored } from '../errors.ts';
import { maxSmallRows } from '../protocol.ts';
import type { WriteHealth } from './health.ts';

/**
 * Writes that arrive together share one BEGIN IMMEDIATE … COMMIT, each in its own savepoint. No
 * write is acknowledged before COMMIT returns. With `synchronous=FULL`, the log is then on disk,
 * and only then are the writes visible to readers.
 *
 *   take -> waiting -> savepoint -> COMMIT -> reply
 *                 \-> error of one operation: its savepoint is rolled back -> fail
 *                  \-> unfinished: the completed part is committed -> waiting
 */
export type GroupCommit = {
  take(call: Incoming): void;
  flush(): void;
};

/** Returned by an operation that did part of its work and must run again in the next group. */
export const unfinished = Symbol('unfinished');

/** Runs one operation inside the transaction and returns a function that sends the reply. */
export type RunCall = (call: Incoming) => (() => void) | typeof unfinished;

function isSmall({ texts }: Incoming): boolean {
  return texts.length <= maxSmallRows;
}

export function createGroupCommit(options: {
  db: Database;
  health: WriteHealth;
  run: RunCall;
  /** Called after each group, when its replies may be sent. */
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
    const calls = waiting;
    waiting = [];
    const fault = health.check();
    // A small write does not wait for a large one that arrived at the same time.
    for (const group of [calls.filter(isSmall), calls.filter((call) => !isSmall(call))]) {
      if (group.length === 0) continue;
      if (fault === null) commitGroup(group);
      else failAll(group, unavailable(`${fault}; nothing was stored`));
      settled();
    }
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
      // After a disk error, SQLite has rolled back the whole transaction.
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      return () => call.fail(notStored(error));
    }
  }

  function failAll(group: Incoming[], error: unknown): void {
    for (const call of group) call.fail(error);
  }

  /** Rolls back the transaction, unless SQLite already did so because of a disk error. */
  function endTransaction(): void {
    try {
      if (db.inTransaction) rollback.run();
    } catch {
      // Ignore the error. Callers receive the first error, and the next BEGIN reports the problem
      // again.
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
