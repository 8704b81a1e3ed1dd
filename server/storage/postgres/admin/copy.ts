import type { CopySide, Row } from '../../copy/side.ts';
import { type Connection, createConnection, query, statement } from '../connection.ts';
import { cannotOpen } from '../errors.ts';
import { isUnfinishedCopy, migrate, readVersion } from '../migrate.ts';
import { runInOrder } from '../transaction.ts';

/** The deadline for statements. Counting all rows of a large database is slow. */
const deadlineMs = 10 * 60_000;

/**
 * Connects to the database for a copy. Throws an Error with advice if a server is running, or if
 * the tables do not exist and `create` is false.
 */
export async function openCopySide(
  url: string,
  { create }: { create: boolean },
): Promise<CopySide> {
  const connection = createConnection({ url, purpose: 'migrate' });
  try {
    // A running server of an older version could not be restarted after an upgrade.
    if ((await readVersion(connection)) > 0) await assertUnused(connection);
    await migrate(connection, { create });
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  return {
    kind: 'postgres',
    async read(text, values) {
      const [rows = []] = await mapped(connection.run([statement(text, values)], deadlineMs));
      return rows as Row[];
    },
    write: (...statements) =>
      mapped(connection.session().then((session) => runInOrder(session, statements, deadlineMs))),
    isUnfinished: () => isUnfinishedCopy(connection),
    assertUnused: () => assertUnused(connection),
    close: () => connection.close(),
  };
}

async function mapped<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw cannotOpen(error);
  }
}

/** Finds a server's sessions. Their application names differ from this session's by one word. */
const isServed = `SELECT 1 AS one FROM pg_stat_activity
  WHERE datname = current_database() AND application_name IN (
    replace(current_setting('application_name'), 'migrate', 'server'),
    replace(current_setting('application_name'), 'migrate', 'writer'))
  LIMIT 1`;
/** The sessions of a server that has just exited may take a moment to end. */
const sessionsEndWithinMs = 1_000;

/** Throws if a server has sessions or holds the cleanup turn (see turns.ts). */
async function assertUnused(connection: Connection): Promise<void> {
  const [turn] = await query<{ seconds: number }>(
    connection,
    `SELECT ceil(held_until / 1000.0 - extract(epoch FROM clock_timestamp()))::float8 AS seconds
     FROM turns WHERE name = 'cleanup'
       AND held_until > extract(epoch FROM clock_timestamp()) * 1000`,
  );
  if (turn !== undefined) throw isRunning(`wait ${turn.seconds} seconds`);
  const deadline = performance.now() + sessionsEndWithinMs;
  while ((await query(connection, isServed)).length > 0) {
    if (performance.now() > deadline)
      throw isRunning('find its sessions in pg_stat_activity and end them');
    await Bun.sleep(50);
  }
}

function isRunning(advice: string): Error {
  return new Error(
    'a server is using the database. Stop it and run the command again. If it was killed, ' +
      `${advice}.`,
  );
}
