import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';
import { createTurns, type Turn } from '../../turns.ts';
import { asServiceError, isBusy, isFull, isSyncFault, outcomeUnknown } from './faults.ts';
import type { Snapshot } from './snapshot.ts';
import type { Wal } from './wal.ts';

/**
 * The one writer. What is asked for together commits together: one BEGIN IMMEDIATE … COMMIT for
 * all, a savepoint for each, and nobody hears of success before the log is on the disk.
 *
 *   write() -> waiting -> (next turn of the event loop) -> savepoint -> COMMIT -> sync -> resolved
 *                                                       \-> its own error -> rejected
 *
 * A long transaction lets requests in between its steps, and so does the wait for the disk. They
 * read through a connection of their own, which sees nothing of it before it is on the disk. Of a
 * write that is alone COMMIT makes the sync by itself.
 */
export type Writer = {
  /** Runs `effect` in the next group; what it throws undoes it alone. */
  write<T>(effect: Effect<T>): Promise<T>;
  /** Resolves once nothing waits any more. */
  drained(): Promise<void>;
  /** Whether there was no room for what was written last. */
  isDiskFull(): boolean;
};

/** Waits for nothing but turns: the transaction is open meanwhile. */
export type Effect<T> = (turn: Turn) => T | Promise<T>;

/** A group takes nothing more after this long: nobody can be let in during COMMIT, which takes the
 * longer the more was changed. */
const longestGroupMs = 2;
/** Another process writes: an administrator's command, or a scrub. Looked at again this often, */
const busyRetryMs = 5;
/** and for this long, while reads go on. */
const busyPatienceMs = 30_000;
/** The disk did not take a commit: looked at again this often while nobody writes. */
const mendRetryMs = 1_000;
/** A disk that takes a commit in less holds up nobody to speak of. */
const quickMs = 1;

type Waiting = {
  effect: Effect<unknown>;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
};

export function createWriter(options: {
  db: Database;
  wal: Wal;
  snapshot: Snapshot;
  /** Whether others are served while a commit is on its way to the disk. */
  waitsAside: boolean;
  /** Said after each group; the next one waits for what it returns. */
  committed(): Promise<void> | undefined;
}): Writer {
  const { db, wal, snapshot, waitsAside, committed } = options;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const rollback = db.prepare('ROLLBACK');
  const waiting: Waiting[] = [];
  let planned = false;
  let busySince: number | null = null;
  let tookMs = 0;
  let diskFull = false;
  let probing: ReturnType<typeof setTimeout> | undefined;
  // As every connection is opened.
  let waitsInCommit = true;

  function write<T>(effect: Effect<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ effect, resolve, reject });
      if (!planned) setImmediate(flush);
      planned = true;
    });
  }

  async function flush(): Promise<void> {
    if (!tryBegin()) return;
    await (waitsInCommit ? commitAlone() : commitGroup());
    if (!wal.hasFailed()) await committed();
    planned = waiting.length > 0;
    if (planned) setImmediate(flush);
  }

  /** Begins a transaction, or sees to it that it is tried again. */
  function tryBegin(): boolean {
    try {
      waitInCommit(!waitsAside || (waiting.length === 1 && tookMs < quickMs));
      begin.run();
      busySince = null;
      if (wal.hasFailed()) mend();
      return true;
    } catch (error) {
      endTransaction();
      busySince ??= performance.now();
      if (isBusy(error) && performance.now() - busySince < busyPatienceMs) {
        setTimeout(flush, busyRetryMs);
        return false;
      }
      busySince = null;
      planned = false;
      refuse(waiting.splice(0), error);
      if (wal.hasFailed()) mendLater();
      return false;
    }
  }

  /**
   * A lone write lets COMMIT wait for the disk, which spares a single client the way to a thread
   * and back. Everybody waits with it, and nobody reads meanwhile.
   */
  function waitInCommit(whether: boolean): void {
    if (whether === waitsInCommit) return;
    // Where this fails we wait, too, which is never wrong.
    waitsInCommit = false;
    db.run(`PRAGMA synchronous = ${whether ? 'FULL' : 'NORMAL'}`);
    waitsInCommit = whether;
  }

  /** Inside a transaction: what was committed before is on the disk after it. */
  function mend(): void {
    wal.mend();
    snapshot.release();
  }

  /** Tries again where no write comes to do so. */
  function mendLater(): void {
    setTimeout(() => {
      if (planned || !wal.hasFailed()) return;
      planned = true;
      void flush();
    }, mendRetryMs).unref();
  }

  /** A full disk is noticed by a write, and so is that there is room again. */
  function noteFull(): void {
    if (!diskFull) probeLater();
    diskFull = true;
  }

  function probeLater(): void {
    probing = setTimeout(async () => {
      try {
        await write(takeRoom);
        diskFull = false;
      } catch (error) {
        diskFull = error instanceof ServiceError && isFull(error.cause);
        if (diskFull) probeLater();
      }
    }, mendRetryMs);
    probing.unref();
  }

  /** In the log; it leaves nothing behind. */
  function takeRoom(): void {
    db.run(`INSERT INTO chores (name) VALUES ('probe')`);
    db.run(`DELETE FROM chores WHERE name = 'probe'`);
  }

  function refuse(group: Waiting[], error: unknown): void {
    if (isFull(error)) noteFull();
    const fault = asServiceError(error);
    for (const { reject } of group) reject(fault);
  }

  /** A write that is alone takes its transaction with it where it fails: it needs no savepoint. */
  async function commitAlone(): Promise<void> {
    const one = waiting.shift();
    // Begun to mend the log, and done.
    if (one === undefined) return endTransaction();
    try {
      const outcome = one.effect(turnsInside());
      // To await what is there already is dear beside all else that a single client waits for.
      const value = outcome instanceof Promise ? await outcome : outcome;
      const begun = performance.now();
      commitInPlace();
      tookMs = performance.now() - begun;
      show();
      one.resolve(value as never);
    } catch (error) {
      endTransaction();
      show();
      refuse([one], error);
    }
  }

  function turnsInside(): Turn {
    const turn = createTurns();
    return () => turn()?.then(assertInside);
  }

  /** A fault of the disk in somebody's read by this connection ends the transaction, and what came
   * after would be stored by itself. */
  function assertInside(): void {
    if (!db.inTransaction) throw outcomeUnknown(new Error('the transaction has ended'));
  }

  async function commitGroup(): Promise<void> {
    const turn = turnsInside();
    const until = performance.now() + longestGroupMs;
    const group: Waiting[] = [];
    const settle: (() => void)[] = [];
    try {
      do {
        const one = waiting.shift();
        if (one === undefined) break;
        group.push(one);
        settle.push(await runOne(one, turn));
        await turn();
      } while (performance.now() < until);
      const begun = performance.now();
      snapshot.hold();
      commit.run();
      await wal.sync();
      tookMs = performance.now() - begun;
    } catch (error) {
      refuse(group, error);
      endTransaction();
      return;
    } finally {
      show();
    }
    for (const tell of settle) tell();
  }

  /** What the disk may not have is not shown, which also keeps it out of every checkpoint. */
  function show(): void {
    if (wal.hasFailed()) mendLater();
    else snapshot.release();
  }

  function commitInPlace(): void {
    try {
      commit.run();
    } catch (error) {
      if (isSyncFault(error)) wal.noteFault();
      throw error;
    }
  }

  /** SQLite ends a transaction by itself when the disk fails or is full; else we do. */
  function endTransaction(): void {
    try {
      if (db.inTransaction) rollback.run();
    } catch {
      // Everybody has been told already, and the next BEGIN will say what is wrong.
    }
  }

  /** Resolves with how to tell the caller, once the group is durable. */
  async function runOne({ effect, resolve, reject }: Waiting, turn: Turn): Promise<() => void> {
    assertInside();
    savepoint.run();
    try {
      const value = (await effect(turn)) as never;
      release.run();
      return () => resolve(value);
    } catch (error) {
      if (isFull(error)) noteFull();
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      const fault = asServiceError(error);
      return () => reject(fault);
    }
  }

  async function drained(): Promise<void> {
    clearTimeout(probing);
    // A write of nothing is answered after all that waited before it.
    await write(() => {});
  }

  return { write, drained, isDiskFull: () => diskFull };
}
