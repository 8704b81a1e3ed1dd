import { outcomeUnknown } from '../refusals.ts';
import type { Connection, Outcome, Row } from './connection.ts';
import { isPartLost, isRefusal } from './errors.ts';
import { type Statement, statement } from './statement.ts';

/** An open transaction. Each statement sees all data that was committed before its start. */
export type Transaction = {
  run(...statements: Statement[]): Promise<Row[][]>;
};

/** Reads and locks rows first, then returns the statements to send with COMMIT. */
export type Work<T> = (tx: Transaction) => Promise<{ last: Statement[]; result: T }>;

const begin = statement('BEGIN ISOLATION LEVEL READ COMMITTED');
const commit = statement('COMMIT');
const rollback = statement('ROLLBACK');

/**
 * Runs the work in a transaction. The connection must not be used for anything else until the
 * transaction ends. BEGIN is sent with the first statements and COMMIT with the last, so work that
 * reads nothing needs one round trip. If this function throws, nothing was stored, unless the error
 * states that the outcome is unknown.
 */
export async function inTransaction<T>(
  connection: Connection,
  work: Work<T>,
  deadlineMs?: number,
): Promise<T> {
  const session = await connection.session();
  let isBegun = false;
  const tx: Transaction = {
    async run(...statements) {
      if (isBegun) return session.run(statements, deadlineMs);
      isBegun = true;
      const [, ...rows] = await session.run([begin, ...statements], deadlineMs);
      return rows;
    },
  };
  try {
    const { last, result } = await work(tx);
    const all = [...(isBegun ? [] : [begin]), ...last, commit];
    isBegun = false;
    assertCommitted(await session.settle(all, deadlineMs));
    return result;
  } catch (error) {
    // No rollback is needed once COMMIT was sent, because the transaction has ended.
    if (isBegun) await session.settle([rollback]).catch(() => {});
    throw error;
  }
}

function assertCommitted(outcomes: Outcome[]): void {
  const error = outcomes.find((one) => 'error' in one)?.error;
  const last = outcomes.at(-1);
  const commitError = last !== undefined && 'error' in last ? last.error : undefined;
  if (error === undefined && last !== undefined && 'command' in last && last.command === 'COMMIT') {
    return;
  }
  // After the first error, the server rejects all further statements, and COMMIT rolls back.
  const isKnown = error !== commitError || !isPartLost(error);
  if (isRefusal(error) && isKnown) throw error;
  throw outcomeUnknown(error);
}
