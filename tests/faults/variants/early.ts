import type { Database, Statement } from 'bun:sqlite';
import type { Hook } from './statements.ts';

/** How long a group stays in an open transaction after its callers were answered. */
const behindMs = 15;

/** Databases with a transaction whose COMMIT is delayed. */
const planned = new WeakSet<Database>();

/** Databases that are open and migrated. */
const served = new WeakSet<Database>();

/**
 * Answers first and commits later: the writer's own COMMIT does nothing, and its next BEGIN joins
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
      return { run: () => (db.inTransaction ? undefined : begin.run()) };
    },
  },
  {
    // SQLite rejects this inside a transaction.
    match: /^PRAGMA synchronous\s*=/i,
    replace: (pragma, db) => ({ run: () => (db.inTransaction ? undefined : pragma.run()) }),
  },
  {
    // SQLite rejects this, too. The writer would fail at its first look at the log, which is not
    // the fault to inject. It retries a checkpoint that reports busy.
    match: /^PRAGMA wal_checkpoint/i,
    replace: (pragma, db) => ({
      get: () => (db.inTransaction ? { busy: 1, log: 0, checkpointed: 0 } : pragma.get()),
      all: () => (db.inTransaction ? [] : pragma.all()),
    }),
  },
];

function plan(commit: Statement, db: Database): void {
  if (planned.has(db)) return;
  planned.add(db);
  setTimeout(() => {
    planned.delete(db);
    if (db.inTransaction) commit.run();
  }, behindMs);
}

/** Marks the database in the next turn of the event loop, so that migrations commit as usual. */
function noteOpening(db: Database): void {
  setTimeout(() => served.add(db));
}
