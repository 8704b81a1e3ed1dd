import { observe, observeMs } from '../../metrics/counts.ts';
import { FairQueue } from '../../threads/fair-queue.ts';
import { unavailable, WriteConflict } from '../refusals.ts';
import type { Connection } from './connection.ts';
import { ConnectionLost, isConflict, isLocked, isOfOneWrite, notStored } from './errors.ts';
import { Reservations } from './reservations.ts';
import { inTransaction, runAlone, type Work, WorkFailed } from './transaction.ts';

type QueuedWrite<T> = {
  projectId: number;
  /** The approximate number of rows to write. */
  cost: number;
  work(tx: Parameters<Work>[0]): Promise<T>;
  /** Names the write's idempotency key, or null. No other write with this key runs meanwhile. */
  key: string | null;
  /** Names the users whose rows the write locks. Null if the write must read to know them. */
  users: readonly string[] | null;
  deadlineMs?: number | undefined;
};

type Waiting = QueuedWrite<unknown> & {
  isAlone: boolean;
  /** Whether the names are already reserved, because the write has waited for a lock. */
  isReserved: boolean;
  since: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
};

/** The maximum number of groups in flight. More groups would be smaller, but not faster. */
const maxGroups = 2; // mutate-ignore constant: affects only speed
const maxGroupRows = 128;
const maxAttempts = 5;
const maxPauseMs = 20;
/** How long a write is retried, and how long it waits for a user's row. */
const triedForMs = 5_000;
/** How long writes avoid a lost or failed connection while another one is open. */
const avoidedMs = 200;

/**
 * Runs the writes of this server on a few connections. Projects take turns.
 *
 *   waiting -> in a group -> COMMIT -> resolved
 *     |  |               \-> rolled back: each write alone
 *     |  \-> alone -> COMMIT -> resolved
 *     |         |-> conflict with another transaction: retried
 *     |         \-> locked by another server: retried later, one such write at a time
 *     \-> its user or its key is in the hands of another transaction of this server: parked
 *
 * No write is acknowledged before COMMIT has succeeded.
 */
export function createWriteQueue(given: {
  connections: readonly Connection[];
  /** Returns why no write can succeed now, or null. */
  fault?(): string | null;
  /** Called with every error of a transaction. */
  note?(error: unknown): void;
}) {
  const { connections, fault = () => null, note = () => {} } = given;
  const idle = [...connections];
  const queue = new FairQueue<Waiting>();
  /** The writes that wait for a row that another server has locked. Their names stay reserved. */
  const locked = new FairQueue<Waiting>();
  const reserved = new Reservations<Waiting>();
  const drained = Promise.withResolvers<void>();
  const running = new Map<number, number>();
  let groups = 0;
  let isRetryingLocked = false;
  let isPlanned = false;
  let isDraining = false;

  /** Writes that arrive in the same turn of the event loop can share a group. */
  function plan(): void {
    if (!isPlanned) setImmediate(dispatch);
    isPlanned = true;
  }

  function push(waiting: Waiting): void {
    queue.push(waiting.projectId, waiting, waiting.cost);
    plan();
  }

  /** Dequeues the next write whose user and key are free. */
  function dequeue(admits: (projectId: number, waiting: Waiting) => boolean): Waiting | undefined {
    for (;;) {
      const next = queue.dequeue(admits);
      if (next === undefined || !reserved.park(next)) return next;
    }
  }

  /** Whether a project may start a write. One connection is left for other projects. */
  function mayRun(projectId: number, { isAlone }: Waiting): boolean {
    if (!isAlone) return groups < maxGroups; // mutate-ignore boundary: one more group
    return (running.get(projectId) ?? 0) < Math.max(1, connections.length - 1);
  }

  function dispatch(): void {
    isPlanned = false;
    for (;;) {
      // Prefer an open connection. Otherwise, use the last one.
      const open = idle.findLastIndex((one) => one.isOpen());
      const [connection] = idle.splice(open, 1);
      if (connection === undefined) return;
      const retried = isRetryingLocked ? undefined : locked.dequeue(mayRun);
      const next = retried ?? dequeue(mayRun);
      if (next === undefined) {
        idle.push(connection);
        if (isDraining && idle.length === connections.length) drained.resolve();
        return;
      }
      if (retried !== undefined) isRetryingLocked = true;
      const done = next.isAlone ? runOne(connection, next) : runGroup(connection, next);
      done.finally(() => giveBack(connection, retried !== undefined));
    }
  }

  async function giveBack(connection: Connection, wasLocked: boolean): Promise<void> {
    if (wasLocked) isRetryingLocked = false;
    const isLost = !connection.isOpen() && connections.some((one) => one.isOpen());
    if (isLost) await Bun.sleep(avoidedMs);
    idle.push(connection);
    plan();
  }

  function release(write: Waiting): void {
    for (const parked of reserved.release(write)) push(parked);
  }

  /**
   * Whether the write must move to another connection, because this one cannot be opened and
   * another one is open. Nothing has been sent in this case.
   */
  async function mustMove(connection: Connection, { since }: Waiting): Promise<boolean> {
    try {
      await connection.session();
      return false;
    } catch {
      const isLate = performance.now() - since > triedForMs;
      return !isLate && connections.some((one) => one.isOpen());
    }
  }

  /** Dequeues further writes for the group. They may have the same user, but not the same key. */
  function gather(first: Waiting): Waiting[] {
    const group = [first];
    reserved.addKey(first);
    let rows = first.cost;
    for (;;) {
      const next = dequeue((_, { isAlone, cost }) => !isAlone && rows + cost <= maxGroupRows);
      if (next === undefined) break;
      group.push(next);
      reserved.addKey(next);
      rows += next.cost;
    }
    for (const one of group) reserved.addUsers(one);
    return group;
  }

  async function runGroup(connection: Connection, first: Waiting): Promise<void> {
    groups += 1;
    const group = gather(first);
    const again: Waiting[] = [];
    try {
      if (await mustMove(connection, first)) again.push(...group);
      else await commitGroup(connection, group);
    } catch (error) {
      note(error);
      const isOfOne =
        error instanceof WorkFailed || error instanceof ConnectionLost || isOfOneWrite(error);
      if (isOfOne) again.push(...group.map((one) => ({ ...one, isAlone: true })));
      else for (const { reject } of group) reject(notStored(error));
    } finally {
      groups -= 1;
    }
    for (const one of group) release(one);
    for (const one of again) push(one);
  }

  async function commitGroup(connection: Connection, group: readonly Waiting[]): Promise<void> {
    const works = group.map(({ work }) => work);
    const session = await connection.session();
    const outcomes = await committed(group.length, () => inTransaction(session, works));
    for (const [index, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status === 'fulfilled') resolve(outcome.value);
      else reject(outcome?.reason);
    }
  }

  async function runOne(connection: Connection, waiting: Waiting): Promise<void> {
    const { projectId } = waiting;
    running.set(projectId, (running.get(projectId) ?? 0) + 1);
    if (!waiting.isReserved) {
      reserved.addKey(waiting);
      reserved.addUsers(waiting);
    }
    try {
      if (!(await tryAgain(connection, waiting))) push({ ...waiting, isReserved: false });
      release(waiting);
    } catch (error) {
      if (isLocked(error)) waitForLock(waiting, error);
      else {
        waiting.reject(notStored(error));
        release(waiting);
      }
    } finally {
      const left = (running.get(projectId) ?? 1) - 1;
      if (left === 0) running.delete(projectId);
      else running.set(projectId, left);
    }
  }

  /** Keeps the names reserved, so that no other write waits for the same row. */
  function waitForLock(waiting: Waiting, error: unknown): void {
    const isLate = ({ since }: Waiting) => performance.now() - since > triedForMs;
    if (!isLate(waiting)) {
      locked.push(waiting.projectId, { ...waiting, isReserved: true });
      return;
    }
    for (const one of [waiting, ...reserved.release(waiting)]) {
      if (isLate(one)) one.reject(notStored(error));
      else push(one);
    }
  }

  /** Returns false if the write must move to another connection. */
  async function tryAgain(connection: Connection, waiting: Waiting): Promise<boolean> {
    const begun = performance.now();
    // mutate-ignore constant: fewer attempts
    for (let attempt = 1; ; attempt += 1) {
      if (await mustMove(connection, waiting)) return false;
      try {
        const session = await connection.session();
        const { work, deadlineMs } = waiting;
        const run = () => runAlone(session, work, deadlineMs);
        waiting.resolve(await committed(1, run));
        return true;
      } catch (error) {
        note(error);
        // ConnectionLost means that COMMIT was not sent, so nothing was stored.
        const mayHelp =
          isConflict(error) || error instanceof WriteConflict || error instanceof ConnectionLost;
        const isLate = performance.now() - begun > triedForMs;
        // A conflict means that another write has succeeded, so it says nothing about the next try.
        const isLast = attempt >= maxAttempts && error instanceof ConnectionLost;
        if (!mayHelp || isLate || isLast) throw error;
        // mutate-ignore removal: affects only when it is retried
        await Bun.sleep(Math.random() * maxPauseMs * Math.min(attempt, maxAttempts));
      }
    }
  }

  return {
    run<T>(write: QueuedWrite<T>): Promise<T> {
      const why = isDraining ? 'the service is shutting down' : fault();
      if (why !== null) return Promise.reject(unavailable(`${why}; nothing was stored`));
      return new Promise<T>((resolve, reject) => {
        push({
          ...write,
          isAlone: write.users === null || write.cost > maxGroupRows,
          isReserved: false,
          since: performance.now(),
          resolve: resolve as Waiting['resolve'],
          reject,
        });
      });
    },
    /** Rejects new writes and waits for the accepted ones. */
    drain(): Promise<void> {
      isDraining = true;
      plan();
      return drained.promise;
    },
  };
}

/** Counts a transaction that has been committed. */
async function committed<T>(writes: number, transaction: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await transaction();
  observeMs('memory_commit_duration_seconds', {}, performance.now() - begun);
  observe('memory_commit_writes', {}, writes);
  return result;
}
