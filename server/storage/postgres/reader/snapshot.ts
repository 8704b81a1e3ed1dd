import type { Connection } from '../connection.ts';
import { type Run, statement } from '../statement.ts';

const begin = statement('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
const end = statement('COMMIT');
/** Long enough for a response with many megabytes of text. */
const deadlineMs = 30_000;

export async function inSnapshot<T>(
  connection: Connection,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const session = await connection.session();
  let isBegun = false;
  try {
    return await work(async (statements) => {
      if (isBegun) return session.run(statements, deadlineMs);
      isBegun = true;
      const [, ...rows] = await session.run([begin, ...statements], deadlineMs);
      return rows;
    });
  } finally {
    // Do not wait for COMMIT. Nothing depends on the result, and the next read is queued behind it.
    if (isBegun) session.settle([end]).catch(() => {});
  }
}
