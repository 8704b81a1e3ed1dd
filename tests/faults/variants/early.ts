import { Database, type Statement } from 'bun:sqlite';
import type { Hook } from './statements.ts';

/** How long a transaction stays open after its callers have received their responses. */
const behindMs = 15;

/** Databases with a transaction whose COMMIT is delayed. */
const planned = new WeakSet<Database>();

/** Databases that are open and migrated. */
const served = new WeakSet<Database>();

/**
 * Responds first and commits later: the writer's own COMMIT does nothing, and its next BEGIN joins
 * the transaction that is still open.
 */
export const commitLate: Hook[] = [
  {
    match: /^COMMIT\b/i,
    replace: (commit, db) => ({ run: () => (served.has(db) ? plan(commit, db) : commit.run()) }),
  },
  {
    match: /^BEGIN IMMEDIATE/i,
    replace(begin, db) {
      noteOpening(db);
      return {
        run() {
          Reflect.deleteProperty(db, 'inTransaction');
          if (!isOpen(db)) begin.run();
        },
      };
    },
  },
  {
    // SQLite rejects this pragma inside a transaction.
    match: /^PRAGMA synchronous\s*=/i,
    replace: (pragma, db) => ({ run: () => (isOpen(db) ? undefined : pragma.run()) }),
  },
  {
    // SQLite rejects a checkpoint inside a transaction, and the error would make the writer fail.
    // If a checkpoint reports busy, the writer retries the checkpoint.
    match: /^PRAGMA wal_checkpoint/i,
    replace: (pragma, db) => ({
      get: () => (isOpen(db) ? { busy: 1, log: 0, checkpointed: 0 } : pragma.get()),
      all: () => (isOpen(db) ? [] : pragma.all()),
    }),
  },
];

/** Whether a transaction is open, also one that the writer believes to be committed. */
function isOpen(db: Database): boolean {
  return Reflect.get(Database.prototype, 'inTransaction', db);
}

function plan(commit: Statement, db: Database): void {
  Object.defineProperty(db, 'inTransaction', { value: false, configurable: true });
  if (planned.has(db)) return;
  planned.add(db);
  setTimeout(() => {
    planned.delete(db);
    if (isOpen(db)) commit.run();
  }, behindMs);
}

/**
 * Adds the database to `served` in the next iteration of the event loop, so that migrations commit
 * as usual.
 */
function noteOpening(db: Database): void {
  setTimeout(() => served.add(db));
}
