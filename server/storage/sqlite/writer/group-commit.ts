import type { Database } from 'bun:sqlite';
import { observe } from '../../../metrics/counts.ts';
import type { WriteTx } from '../../engine.ts';
import { unavailable } from '../../refusals.ts';
import { notCommitted, notCompleted, notStored } from '../errors.ts';
import type { WriteHealth } from './health.ts';

type PendingWrite = {
  /** A write must wait for a paused write with the same idempotency key; null without a key. */
  key: string | null;
  run(tx: WriteTx): Promise<unknown>;
  reply(result: unknown): void;
  fail(error: unknown): void;
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
  tx: Omit<WriteTx, 'pause'>;
  /** Called after each group, when its replies may be sent. */
  afterGroup(): void;
}) {
  const { db, health, afterGroup } = options;
  let current: Execution | null = null;
  const pause = async () => current?.pause();
  const tx: WriteTx = { ...options.tx, pause };
  const begin = db.prepare('BEGIN IMMEDIATE');
  const end = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const rollback = db.prepare('ROLLBACK');
  let small: Execution[] = [];
  const large: Execution[] = [];
  /** The keys of the paused writes. */
  const pausedKeys = new Set<string>();
  let isPlanned = false;

  const isWaiting = () => small.length + large.length > 0;

  function plan(): void {
    if (!isPlanned) setImmediate(flush);
    isPlanned = true;
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

  async function commit(group: Execution[], fault: string | null): Promise<void> {
    if (group.length === 0) return;
    if (fault === null) await commitGroup(group);
    else failAll(group, unavailable(`${fault}; nothing was stored`));
    afterGroup();
  }

  async function commitGroup(group: Execution[]): Promise<void> {
    // A single write needs no savepoint. Inside a savepoint, SQLite copies every changed page.
    const runOne = group.length === 1 ? runStep : runInSavepoint;
    const endings: (() => void)[] = [];
    let asError = notStored;
    const late = setImmediate(endOutside);
    try {
      begin.run();
      const begun = performance.now();
      for (const execution of group) {
        endings.push(await runOne(execution));
        if (performance.now() - begun > maxGroupMs) break;
      }
      asError = notCommitted;
      commitAndCount(endings.length);
    } catch (error) {
      endTransaction();
      health.note(error);
      failAll(group, asError(error));
      return;
    } finally {
      clearImmediate(late);
    }
    small.unshift(...group.slice(endings.length));
    for (const ending of endings) ending();
  }

  function commitAndCount(writes: number): void {
    const begun = performance.now();
    end.run();
    const seconds = (performance.now() - begun) / 1_000;
    observe('memory_commit_duration_seconds', {}, seconds);
    observe('memory_commit_writes', {}, writes);
  }

  async function runInSavepoint(execution: Execution): Promise<() => void> {
    savepoint.run();
    try {
      const ending = await runStep(execution);
      release.run();
      return ending;
    } catch (error) {
      health.note(error);
      // After a disk error, SQLite has rolled back the whole transaction.
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      return () => fail(execution, notStored(error));
    }
  }

  /** Returns what to do with the write after the commit. */
  async function runStep(execution: Execution): Promise<() => void> {
    const { write } = execution;
    const { key } = write;
    if (!execution.hasPaused && key !== null && pausedKeys.has(key)) {
      return () => large.push(execution);
    }
    current = execution;
    const step = await execution.step(tx);
    if ('result' in step) return () => finish(execution, step.result);
    if (key !== null) pausedKeys.add(key);
    return () => large.push(execution);
  }

  function finish(execution: Execution, result: unknown): void {
    forget(execution);
    execution.write.reply(result);
  }

  function fail(execution: Execution, error: unknown): void {
    forget(execution);
    execution.write.fail(execution.hasPaused ? notCompleted(error) : error);
  }

  function forget({ write: { key }, hasPaused }: Execution): void {
    if (key !== null && hasPaused) pausedKeys.delete(key);
  }

  function failAll(group: Execution[], error: unknown): void {
    for (const execution of group) fail(execution, error);
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
    add(write: PendingWrite, size: 'small' | 'large'): void {
      (size === 'small' ? small : large).push(new Execution(write));
      plan();
    },
    /** Commits all waiting writes. */
    async drain(): Promise<void> {
      while (isWaiting()) await flush();
    },
  };
}

/** Ends the thread, because other code may have run inside a transaction. */
function endOutside(): never {
  throw new Error('an operation has awaited something other than its transaction');
}

type Step = { result: unknown } | { paused: true };

/** A write that runs in one or several steps, each in its own transaction. */
class Execution {
  readonly write: PendingWrite;
  #step = Promise.withResolvers<Step>();
  #resume: (() => void) | null = null;

  constructor(write: PendingWrite) {
    this.write = write;
  }

  /** Whether the write has run some of its steps. */
  get hasPaused(): boolean {
    return this.#resume !== null;
  }

  /** Runs the write until it ends or pauses. */
  step(tx: WriteTx): Promise<Step> {
    if (this.#resume === null) {
      this.write.run(tx).then(
        (result) => this.#step.resolve({ result }),
        (error) => this.#step.reject(error),
      );
    } else {
      this.#step = Promise.withResolvers();
      this.#resume();
    }
    return this.#step.promise;
  }

  pause(): Promise<void> {
    const resumed = Promise.withResolvers<void>();
    this.#resume = resumed.resolve;
    this.#step.resolve({ paused: true });
    return resumed.promise;
  }
}
