import { Database, type Statement } from 'bun:sqlite';

/** How long a group stays in an open transaction after its callers were told. */
const behindMs = 15;

/**
 * Tells the callers first and commits later: the writer's own COMMIT does nothing, and its next
 * BEGIN joins the transaction that is still open. All else works as it should.
 */
export function commitLate(): void {
  const prepare = Database.prototype.prepare;
  Database.prototype.prepare = function (this: Database, sql: string, ...rest: []) {
    const statement = prepare.call(this, sql, ...rest);
    if (sql === 'COMMIT') return lateCommit(this, statement);
    if (sql === 'BEGIN IMMEDIATE') return joiningBegin(this, statement);
    return statement;
  } as typeof prepare;
}

function joiningBegin(db: Database, begin: Statement) {
  return { run: () => (db.inTransaction ? undefined : begin.run()) };
}

function lateCommit(db: Database, commit: Statement) {
  let planned = false;
  return {
    run() {
      if (planned) return;
      planned = true;
      setTimeout(() => {
        planned = false;
        if (db.inTransaction) commit.run();
      }, behindMs);
    },
  };
}
