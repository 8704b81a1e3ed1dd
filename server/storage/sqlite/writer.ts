import type { Database } from 'bun:sqlite';
import { createTurns, type Turn } from '../../turns.ts';
import { createDiskWatch } from './disk-watch.ts';
import { asServiceError, isBusy, isFull, isSyncFault, outcomeUnknown } from './faults.ts';
import { createFullDisk } from './full-disk.ts';
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
  write<T>(effect: Effect<T>, size?: Size): Promise<T>;
  /** Resolves once nothing waits any more. */
  drained(): Promise<void>;
  /** Whether there was no room for what was written last. */
  isDiskFull(): boolean;
  /** Says that somebody reads, who is not to wait for the disk. */
  noteReader(): void;
};

/** Waits for nothing but turns: the transaction is open meanwhile. */
export type Effect<T> = (turn: Turn) => T | Promise<T>;

/** What is 'large' gets a commit of its own, without the savepoint in which SQLite would keep all
 * that it changes, and its sync never keeps others waiting. */
export type Size = 'small' | 'large';

/** A group takes nothing more after this long: nobody can be let in during COMMIT, which takes the
 * longer the more was changed. */
const longestGroupMs = 2;
/** Another process writes: an administrator's command, or a scrub. Looked at again this often, */
const busyRetryMs = 5;
/** and for this long, while reads go on. */
const busyPatienceMs = 30_000;
/** The disk did not take a commit: looked at again this often while nobody writes. */
const mendRetryMs = 1_000;

type Waiting = {
  effect: Effect<unknown>;
  size: Size;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
};

const isLarge = (one: Waiting | undefined) => one?.size === 'large';

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
  const fullDisk = createFullDisk(db, (effect) => write(effect));
  const waiting: Waiting[] = [];
  const disk = createDiskWatch();
  let planned = false;
  let busySince: number | null = null;
  // As every connection is opened.
  let waitsInCommit = true;

  function write<T>(effect: Effect<T>, size: Size = 'small'): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ effect, size, resolve, reject });
      if (!planned) setImmediate(flush);
      planned = true;
    });
  }

  async function flush(): Promise<void> {
    if (!tryBegin()) return;
    const isAlone = waitsInCommit || waiting.length === 1 || isLarge(waiting[0]);
    await (isAlone ? commitAlone() : commitGroup());
    if (!wal.hasFailed()) await committed();
    planned = waiting.length > 0;
    if (planned) setImmediate(flush);
  }

  /** Begins a transaction, or sees to it that it is tried again. */
  function tryBegin(): boolean {
    try {
      waitInCommit(!waitsAside || isQuick());
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

  /** Whether what waits will hold up nobody to speak of. */
  function isQuick(): boolean {
    return waiting.length === 1 && !isLarge(waiting[0]) && disk.isQuick();
  }

  /** A lone write lets COMMIT wait for the disk; see disk-watch.ts. */
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

  function refuse(group: Waiting[], error: unknown): void {
    if (isFull(error)) fullDisk.note();
    const fault = asServiceError(error);
    for (const { reject } of group) reject(fault);
  }

  /** A write that is alone takes its transaction with it where it fails. */
  async function commitAlone(): Promise<void> {
    const one = waiting.shift();
    // Begun to mend the log, and done.
    if (one === undefined) return endTransaction();
    try {
      const outcome = one.effect(turnsInside());
      // To await what is there already is dear beside all else that a single client waits for.
      const value = outcome instanceof Promise ? await outcome : outcome;
      const begun = performance.now();
      if (waitsInCommit) commitInPlace();
      else await commitAside();
      disk.noteCommit(begun);
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
      } while (performance.now() < until && !isLarge(waiting[0]));
      const begun = performance.now();
      await commitAside();
      disk.noteCommit(begun);
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

  async function commitAside(): Promise<void> {
    snapshot.hold();
    commit.run();
    await wal.sync();
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
      if (isFull(error)) fullDisk.note();
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      const fault = asServiceError(error);
      return () => reject(fault);
    }
  }

  async function drained(): Promise<void> {
    fullDisk.stop();
    // A write of nothing is answered after all that waited before it.
    await write(() => {});
  }

  return { write, drained, isDiskFull: fullDisk.isFull, noteReader: disk.noteReader };
}
