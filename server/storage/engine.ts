import type { IndexCache } from './index-cache.ts';
import type { QueueLimit } from './queue-limit.ts';

/*
 * What an operation needs from a database. The operations, with all SQL on user data, are written
 * once, in `operations`; an engine runs them on one kind of database.
 */

export type Value = string | number | null | Uint8Array;

/**
 * A transaction, or the snapshot of a read. Each method runs one statement, whose parameters are
 * `$1`, `$2` and so on. Statements that do not depend on each other may be started together. An
 * operation awaits nothing but these methods.
 */
export type Tx = {
  readonly dialect: Dialect;
  all<Row>(text: string, values?: readonly Value[]): Promise<Row[]>;
  /** Returns the first row. */
  one<Row>(text: string, values?: readonly Value[]): Promise<Row | undefined>;
  /** Returns the number of changed rows. */
  run(text: string, values?: readonly Value[]): Promise<number>;
};

/** The transaction of a write. */
export type WriteTx = Tx & {
  /** Called when a memory is deleted or a user is erased, so that the engine removes the traces. */
  noteRemoved(what: 'memory' | 'user'): Promise<void>;
  readonly queueLimit: QueueLimit;
};

/** The snapshot of a read in a reader thread. */
export type ReaderTx = Tx & {
  readonly indexes: IndexCache;
  /**
   * Runs the work once the read has been answered, unless too much such work is still going on. No
   * client waits for it, and its errors are ignored.
   */
  afterReply(work: (write: Writer) => Promise<void>): void;
};

export type Writer = Engine['write'];

/** The expressions that differ between databases. */
export type Dialect = {
  /** Whether `text` contains `part`. */
  contains(text: string, part: string): string;
  /** Whether a running task was claimed by a process that no longer runs, given the present one. */
  hasOtherOwner(owner: string): string;
  /**
   * The time by which leases end and expired memories are deleted, in ms: the present time as the
   * caller passes it, or that of a database which several servers share.
   */
  sharedClock(now: string): string;
  /** Ends a SELECT, so that other transactions change its rows only after this one has ended. */
  forShare: string;
  /** Ends a SELECT, so that it locks the rows and leaves out those that others have locked. */
  skipLocked: string;
  /** The service's uptime on this database; see the table `maintenance`. */
  uptime: string;
  /**
   * Locks the project `$1` against other writes that store memories under given ids. Changes no row
   * if the transaction has locked it before. Null if the database keeps ids unique by itself.
   */
  lockIds: string | null;
  /** Follows the table's name where memories must be found by their ids, however many they are. */
  memoriesById: string;
  /** A user's memories `m`, each with the row `t` of its task, which is found by its key. */
  memoriesWithTasks(userId: string): string;
  /**
   * Selects up to `limit` of the idempotency keys that are `known` and `old`, about in the order in
   * which they were stored.
   */
  oldestKeys(keys: { known: string; old: string; limit: string }): string;
};

/**
 * What a part of a long write returns. An engine that has a single writer commits the part and runs
 * other writes before the rest. On another engine, the rest follows in the same transaction.
 */
export class Paused<Result> {
  constructor(readonly resume: () => Promise<Result | Paused<Result>>) {}
}

export async function runWhole<Input, Result>(
  tx: WriteTx,
  operation: WriteOperation<Input, Result>,
  input: Input,
): Promise<Result> {
  let result = await operation.run(tx, input);
  while (result instanceof Paused) result = await result.resume();
  return result;
}

export type WriteOperation<Input, Result> = {
  run(tx: WriteTx, input: Input): Promise<Result | Paused<Result>>;
  /** The approximate number of rows that the write changes. Default: one. */
  cost?(input: Input): number;
  /**
   * The users whose rows the write locks, as `keyOfUser` names them. An engine runs writes together
   * only if it knows their users.
   */
  users?(input: Input): readonly string[];
  /** Whether a statement of the write may take minutes, if there is much data. */
  readonly isLong?: boolean;
  /** Whether no client waits for the write. */
  readonly isBackground?: boolean;
};

export type ReadOperation<Input, Result> = {
  run(tx: ReaderTx, input: Input): Promise<Result>;
};

/**
 * A read that is short enough for the calling thread's own connection. It has no snapshot: each of
 * its statements reads the present state.
 */
export type ShortRead<Input, Result> = {
  run(tx: Tx, input: Input): Promise<Result>;
};

/** Runs operations on one kind of database. Rejects with the errors that storage.ts describes. */
export type Engine = {
  write<Input, Result>(operation: WriteOperation<Input, Result>, input: Input): Promise<Result>;
  /** Runs the read in a reader thread, when it is the project's turn. */
  read<Input, Result>(operation: ReadOperation<Input, Result>, input: Input): Promise<Result>;
  /** Like `read`, with the search index that the read needs. Undefined if it was canceled. */
  search<Input, Result>(
    operation: ReadOperation<Input, Result>,
    input: Input,
    options: { index: string; signal?: AbortSignal | undefined },
  ): Promise<Result | undefined>;
  readShort<Input, Result>(operation: ShortRead<Input, Result>, input: Input): Promise<Result>;
};

/** The part of an engine that needs no reader threads. */
export type ShortEngine = Pick<Engine, 'write' | 'readShort'>;
