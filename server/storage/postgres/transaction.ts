import { outcomeUnknown } from '../refusals.ts';
import { type Connection, type Outcome, rowsOf, type Session } from './connection.ts';
import { isPartLost, isRefusal } from './errors.ts';
import { type Run, type Statement, statement } from './statement.ts';

/**
 * Reads and locks rows first, then returns the statements to send with COMMIT. Each statement sees
 * all data that was committed before the statement began.
 */
export type Work<T> = (run: Run) => Promise<{ last: Statement[]; result: T }>;

const begin = statement('BEGIN ISOLATION LEVEL READ COMMITTED');
const commit = statement('COMMIT');
const rollback = statement('ROLLBACK');

/** `settings` are SET LOCAL statements, which are sent with BEGIN. */
export type TransactionOptions = {
  deadlineMs?: number | undefined;
  settings?: readonly Statement[];
};

/**
 * Runs the work in a transaction. The connection must not be used for anything else until the
 * transaction ends. BEGIN is sent with the first statements and COMMIT with the last, so work that
 * reads nothing needs one round trip. If this function throws, nothing was stored, unless the error
 * states that the outcome is unknown.
 */
export async function inTransaction<T>(
  connection: Connection,
  work: Work<T>,
  { deadlineMs, settings = [] }: TransactionOptions = {},
): Promise<T> {
  const opening = [begin, ...settings];
  const session = await connection.session();
  let isBegun = false;
  const run: Run = async (statements) => {
    if (isBegun) return session.run(statements, deadlineMs);
    isBegun = true;
    const outcomes = await session.settle([...opening, ...statements], deadlineMs);
    assertBegun(session, outcomes);
    return rowsOf(outcomes).slice(opening.length);
  };
  try {
    const { last, result } = await work(run);
    const first = isBegun ? [] : opening;
    isBegun = false;
    const outcomes = await session.settle([...first, ...last, commit], deadlineMs);
    if (first.length > 0) assertBegun(session, outcomes);
    assertCommitted(outcomes);
    return result;
  } catch (error) {
    // No rollback is needed once COMMIT has been sent, because the transaction has ended.
    if (isBegun) await session.settle([rollback]).catch(() => {});
    throw error;
  }
}

/** If BEGIN failed, the server has committed each of the following statements separately. */
function assertBegun(session: Session, [first]: Outcome[]): void {
  if (first === undefined) return;
  const isRefused = 'error' in first ? isRefusal(first.error) : first.command !== 'BEGIN';
  if (!isRefused) return;
  session.end();
  throw outcomeUnknown('error' in first ? first.error : undefined);
}

function assertCommitted(outcomes: Outcome[]): void {
  const error = outcomes.find((one) => 'error' in one)?.error;
  const last = outcomes.at(-1);
  const commitError = last !== undefined && 'error' in last ? last.error : undefined;
  if (error === undefined && last !== undefined && 'command' in last && last.command === 'COMMIT') {
    return;
  }
  // After the first error, the server rejects all remaining statements, and COMMIT rolls back.
  const isKnown = error !== commitError || !isPartLost(error);
  if (isRefusal(error) && isKnown) throw error;
  throw outcomeUnknown(error);
}
