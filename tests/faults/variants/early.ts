import type { Database, Statement } from 'bun:sqlite';
import type { Hook } from './statements.ts';

/** How long a group stays in an open transaction after its callers were answered. */
const behindMs = 15;

/** Open transactions whose COMMIT is still to come. */
const planned = new WeakSet<Database>();

/** Those that are open and migrated. */
const served = new WeakSet<Database>();

/**
 * Answers first and commits later: the writer's own COMMIT does nothing, and its next BEGIN joins
 * the transaction that is still open. All else works as it should.
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
    // SQLite refuses a change of it while the commit before is open.
    match: /^PRAGMA synchronous\s*=/i,
    replace: (pragma, db) => ({ run: () => (db.inTransaction ? undefined : pragma.run()) }),
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

/** What opens a database, its migrations among it, runs before the event loop comes around. */
function noteOpening(db: Database): void {
  setTimeout(() => served.add(db));
}
