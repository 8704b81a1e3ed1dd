import type { Database } from 'bun:sqlite';
import { observe, observeMs } from '../../../metrics/counts.ts';
import { Paused, type WriteTx } from '../../engine.ts';
import { unavailable } from '../../refusals.ts';
import { notCommitted, notCompleted, notStored } from '../errors.ts';
import type { WriteHealth } from './health.ts';

type PendingWrite = {
  /** A write must wait for a paused write with the same idempotency key; null without a key. */
  key: string | null;
  /** Runs the write or, once it has paused, the rest. */
  run(tx: WriteTx): Promise<unknown>;
  reply(result: unknown): void;
  fail(error: unknown): void;
  hasPaused?: boolean;
};

/** A group ends after this time, so that the thread can handle messages. */
const maxGroupMs = 100;

/**
 * Small writes that arrive together share one BEGIN IMMEDIATE … COMMIT, each in its own savepoint.
 * A large write is committed alone. Small writes that arrive in the meantime are committed before
 * the next large write. No write is acknowledged or visible to readers until COMMIT returns. By
 * then, the WAL is on disk because of `synchronous=FULL`.
 *
 *   add -> waiting -> savepoint -> COMMIT -> reply
 *                \-> error of one operation: its savepoint is rolled back -> fail
 *                 \-> pause: the completed part is committed -> waiting
 *
 * Operations are asynchronous, but await only their transaction, which runs each statement at once.
 * So no message can arrive, and no other operation can run, between BEGIN and COMMIT.
 */
export function createGroupCommit(options: {
  db: Database;
  health: WriteHealth;
  tx: WriteTx;
  /** Called after each group, when its replies may be sent. */
  afterGroup(): void;
}) {
  const { db, health, tx, afterGroup } = options;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const end = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const rollback = db.prepare('ROLLBACK');
  let small: PendingWrite[] = [];
  const large: PendingWrite[] = [];
  const pausedKeys = new Set<string>();
  let isPlanned = false;

  const isWaiting = () => small.length + large.length > 0;

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(flush);
    // Runs when the promises of the group have settled.
    setImmediate(assertEnded);
  }

  async function flush(): Promise<void> {
    isPlanned = false;
    const fault = health.check();
    const together = small;
    small = [];
    await commit(together, fault);
    await commit(large.splice(0, 1), fault);
    if (isWaiting()) plan();
  }

  async function commit(group: PendingWrite[], fault: string | null): Promise<void> {
    if (group.length === 0) return;
    if (fault === null) await commitGroup(group);
    else failAll(group, unavailable(`${fault}; nothing was stored`));
    afterGroup();
  }

  async function commitGroup(group: PendingWrite[]): Promise<void> {
    const endings: (() => void)[] = [];
    let asError = notStored;
    try {
      begin.run();
      const begun = performance.now();
      for (const write of group) {
        endings.push(await runOne(write, group.length === 1));
        if (performance.now() - begun > maxGroupMs) break;
      }
      asError = notCommitted;
      commitAndCount(endings.length);
    } catch (error) {
      endTransaction();
      health.note(error);
      failAll(group, asError(error));
      return;
    }
    small.unshift(...group.slice(endings.length));
    for (const ending of endings) ending();
  }

  function commitAndCount(writes: number): void {
    const begun = performance.now();
    end.run();
    observeMs('memory_commit_duration_seconds', {}, performance.now() - begun);
    observe('memory_commit_writes', {}, writes);
  }

  /**
   * Returns what to do with the write after the commit. A single write needs no savepoint, inside
   * which SQLite copies every changed page.
   */
  async function runOne(write: PendingWrite, isAlone: boolean): Promise<() => void> {
    if (mustWait(write)) return () => large.push(write);
    if (!isAlone) savepoint.run();
    try {
      const result = await write.run(tx);
      if (!isAlone) release.run();
      return result instanceof Paused ? pause(write, result) : () => finish(write, result);
    } catch (error) {
      if (isAlone) throw error;
      health.note(error);
      // After a disk error, SQLite has rolled back the whole transaction.
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      return () => fail(write, notStored(error));
    }
  }

  function mustWait({ key, hasPaused }: PendingWrite): boolean {
    return !hasPaused && key !== null && pausedKeys.has(key);
  }

  function pause(write: PendingWrite, { resume }: Paused<unknown>): () => void {
    if (write.key !== null) pausedKeys.add(write.key);
    Object.assign(write, { run: resume, hasPaused: true });
    return () => large.push(write);
  }

  function finish(write: PendingWrite, result: unknown): void {
    forget(write);
    write.reply(result);
  }

  function fail(write: PendingWrite, error: unknown): void {
    forget(write);
    write.fail(write.hasPaused ? notCompleted(error) : error);
  }

  function forget({ key, hasPaused }: PendingWrite): void {
    if (key !== null && hasPaused) pausedKeys.delete(key);
  }

  function failAll(group: PendingWrite[], error: unknown): void {
    for (const write of group) fail(write, error);
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

  /** Ends the thread if other code could run inside a transaction. */
  function assertEnded(): void {
    if (db.inTransaction) {
      throw new Error('an operation has awaited something other than its transaction');
    }
  }

  return {
    add(write: PendingWrite, size: 'small' | 'large'): void {
      (size === 'small' ? small : large).push(write);
      plan();
    },
    /** Commits all waiting writes. */
    async drain(): Promise<void> {
      while (isWaiting()) await flush();
    },
  };
}
