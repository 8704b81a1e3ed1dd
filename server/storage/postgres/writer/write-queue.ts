import { FairQueue } from '../../../fair-queue.ts';
import { observe } from '../../../metrics/counts.ts';
import { unavailable } from '../../refusals.ts';
import type { Write } from '../../storage.ts';
import type { Connection } from '../connection.ts';
import { ConnectionLost, isConflict, isLocked, isOfOneWrite, notStored } from '../errors.ts';
import { statement } from '../statement.ts';
import { inTransaction, type Work } from '../transaction.ts';
import type { Effect } from './idempotency.ts';
import { type Insert, insertGroup } from './insert-group.ts';
import { LockedWrites } from './locked-writes.ts';

/**
 * Runs the writes of this server on a few connections. Projects take turns.
 *
 *   waiting -> in a group -> COMMIT -> resolved
 *      |               \-> rejected: alone, reading first
 *      \----> alone: reads and locks, effect, COMMIT -> resolved
 *                 |-> conflict with another transaction: retried
 *                 \-> locked by another transaction: waits in LockedWrites
 *
 * Writes that do not depend on stored data share one pipelined transaction. No write is
 * acknowledged before COMMIT has succeeded.
 */
export type WriteQueue = {
  run<T>(write: PlannedWrite<T>): Promise<T>;
  /** Rejects new writes and waits for the accepted ones. */
  drain(): Promise<void>;
};

type Options = {
  /** The approximate number of rows to write; by default, 1. */
  cost?: number;
  /** The rows to insert, unless they depend on stored data. */
  insert?: Insert;
  deadlineMs?: number;
};

/** `work` is the write as a transaction that reads first. */
export type PlannedWrite<T> = Options & { projectId: number; work: Work<T> };

/** A client's write. `effect` performs it in a transaction that reads first. */
export type Plan = Options & { effect: Effect };

type Waiting = Omit<PlannedWrite<unknown>, 'insert'> & {
  cost: number;
  insert: Insert | null;
  since: number;
  /** The name of the user, if the write inserts memories of a single user. */
  user: string | null;
  resolve(result: unknown): void;
  reject(error: unknown): void;
};

/** The maximum number of in-flight groups. More groups would be smaller, but not faster. */
const maxGroups = 2;
const maxRowsInGroup = 128;
const maxAttempts = 5;
const maxPauseMs = 20;
const triedForMs = 5_000;
/** How long writes avoid a lost or failed connection while another one is open. */
const avoidedMs = 200;
/** A write that waits longer than this for a user's row releases its connection to other writes. */
const settings = [statement(`SET LOCAL lock_timeout = '200ms'`)];
/** The number of recent idempotency keys to remember. A replay would make its group fail. */
const maxRecentKeys = 10_000;

export function createWriteQueue(options: {
  connections: readonly Connection[];
  /** Whether Citus distributes the tables; see citus.ts. */
  isDistributed: boolean;
  uptime(): number;
  /** Returns why no write can succeed now, or null. */
  fault(): string | null;
  /** Called with every error of a transaction. */
  note(error: unknown): void;
}): WriteQueue {
  const { connections, isDistributed, uptime, fault, note } = options;
  const idle = [...connections];
  const queue = new FairQueue<Waiting>();
  const locked = new LockedWrites<Waiting>();
  const seen = createRecent(maxRecentKeys);
  const drained = Promise.withResolvers<void>();
  const running = new Map<number, number>();
  let groups = 0;
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

  /** Takes the next write whose user's row is not known to be locked. */
  function take(admits: (projectId: number, waiting: Waiting) => boolean): Waiting | undefined {
    for (;;) {
      const next = queue.take(admits);
      if (next === undefined || !locked.includes(next)) return next;
      locked.push({ ...next, insert: null });
    }
  }

  /** Whether a project may start a write. One connection is reserved for other projects. */
  function mayRun(projectId: number, { insert }: Waiting): boolean {
    if (insert !== null) return groups < maxGroups;
    return (running.get(projectId) ?? 0) < Math.max(1, connections.length - 1);
  }

  function dispatch(): void {
    isPlanned = false;
    for (;;) {
      // Prefer an open connection. Otherwise, use the last one.
      const [connection] = idle.splice(
        idle.findLastIndex((one) => one.isOpen()),
        1,
      );
      if (connection === undefined) return;
      // Taking a write may move writes ahead of it in the queue to the locked writes.
      const next = locked.take(mayRun) ?? take(mayRun) ?? locked.take(mayRun);
      if (next === undefined) {
        idle.push(connection);
        if (isDraining && idle.length === connections.length) drained.resolve();
        return;
      }
      const done = next.insert === null ? runAlone(connection, next) : runGroup(connection, next);
      done.finally(() => giveBack(connection));
    }
  }

  async function giveBack(connection: Connection): Promise<void> {
    const isLost = !connection.isOpen() && connections.some((one) => one.isOpen());
    if (isLost) await Bun.sleep(avoidedMs);
    idle.push(connection);
    plan();
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

  function gather(first: Waiting): Waiting[] {
    const group = [first];
    let rows = first.cost;
    while (rows < maxRowsInGroup) {
      const next = take((_, { insert, cost }) => insert !== null && rows + cost <= maxRowsInGroup);
      if (next === undefined) break;
      group.push(next);
      rows += next.cost;
    }
    return group;
  }

  async function runGroup(connection: Connection, first: Waiting): Promise<void> {
    groups += 1;
    const group = gather(first);
    const inserts = group.flatMap(({ insert }) => (insert === null ? [] : [insert]));
    try {
      if (await mustMove(connection, first)) {
        for (const one of group) push(one);
        return;
      }
      const work = insertGroup(inserts, { uptime: uptime(), isDistributed });
      await committed(group.length, () => inTransaction(connection, work, { settings }));
      for (const { insert, resolve } of group) {
        resolve({ response: insert?.response, replayed: false });
      }
    } catch (error) {
      note(error);
      for (const one of group) {
        if (isOfOneWrite(error)) push({ ...one, insert: null });
        else one.reject(notStored(error));
      }
    } finally {
      groups -= 1;
    }
  }

  async function runAlone(connection: Connection, waiting: Waiting): Promise<void> {
    const { projectId } = waiting;
    running.set(projectId, (running.get(projectId) ?? 0) + 1);
    try {
      await tryAgain(connection, waiting);
      locked.noteStored(waiting);
    } catch (error) {
      const failed = isLocked(error) ? locked.addLocked(waiting) : [waiting];
      for (const { reject } of failed) reject(notStored(error));
    } finally {
      locked.noteEnded(waiting);
      const left = (running.get(projectId) ?? 1) - 1;
      if (left === 0) running.delete(projectId);
      else running.set(projectId, left);
    }
  }

  async function tryAgain(connection: Connection, waiting: Waiting): Promise<void> {
    const begun = performance.now();
    for (let attempt = 1; ; attempt += 1) {
      if (await mustMove(connection, waiting)) return push(waiting);
      try {
        const { work, deadlineMs } = waiting;
        const result = await committed(1, () =>
          inTransaction(connection, work, { deadlineMs, settings }),
        );
        return waiting.resolve(result);
      } catch (error) {
        note(error);
        // ConnectionLost means that COMMIT was not sent, so nothing was stored.
        const mayHelp = isConflict(error) || error instanceof ConnectionLost;
        const isLate = performance.now() - begun > triedForMs;
        if (!mayHelp || isLate || attempt === maxAttempts) throw error;
        await Bun.sleep(Math.random() * maxPauseMs * attempt);
      }
    }
  }

  return {
    run<T>({ cost = 1, insert, ...write }: PlannedWrite<T>): Promise<T> {
      const why = isDraining ? 'the service is shutting down' : fault();
      if (why !== null) return Promise.reject(unavailable(`${why}; nothing was stored`));
      const isInsert = insert !== undefined && !seen(keyName(insert.write));
      return new Promise<T>((resolve, reject) => {
        push({
          ...write,
          cost,
          insert: isInsert ? insert : null,
          since: performance.now(),
          user: insert === undefined ? null : onlyUserOf(insert),
          resolve: resolve as Waiting['resolve'],
          reject,
        });
      });
    },
    drain() {
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
  observe('memory_commit_duration_seconds', {}, (performance.now() - begun) / 1_000);
  observe('memory_commit_writes', {}, writes);
  return result;
}

function onlyUserOf({ write: { projectId }, rows }: Insert): string | null {
  const users = new Set(rows.map(({ memory }) => memory.userId));
  const [userId] = users;
  return users.size === 1 ? `${projectId} ${userId}` : null;
}

function keyName({ projectId, idempotency }: Write): string | null {
  return idempotency === null
    ? null
    : `${projectId} ${idempotency.key.length} ${idempotency.key} ${idempotency.scope}`;
}

/** Returns a function that records a name and returns whether the name was already recorded. */
function createRecent(max: number): (name: string | null) => boolean {
  const names = new Set<string>();
  return (name) => {
    if (name === null) return false;
    const isKnown = names.delete(name);
    names.add(name);
    for (const oldest of names) {
      if (names.size <= max) break;
      names.delete(oldest);
    }
    return isKnown;
  };
}
