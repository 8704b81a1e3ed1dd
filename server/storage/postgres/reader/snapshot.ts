import type { Connection } from '../connection.ts';
import { statement } from '../statement.ts';
import type { Transaction } from '../transaction.ts';

const begin = statement('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
const end = statement('COMMIT');
/** The texts of one answer may be many megabytes. */
const deadlineMs = 30_000;

/** All that the work reads is of one state of the database. BEGIN goes with its first read. */
export async function inSnapshot<T>(
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const session = await connection.session();
  let isBegun = false;
  try {
    return await work({
      async run(...statements) {
        if (isBegun) return session.run(statements, deadlineMs);
        isBegun = true;
        const [, ...rows] = await session.run([begin, ...statements], deadlineMs);
        return rows;
      },
    });
  } finally {
    // Nothing depends on its answer; what is read next stands behind it.
    if (isBegun) session.settle([end]).catch(() => {});
  }
}
