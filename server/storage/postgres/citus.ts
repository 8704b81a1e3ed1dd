import type { Connection } from './connection.ts';
import { type Statement, statement } from './statement.ts';

/*
 * Citus spreads tables over several machines. Everything of a user has one bucket, and rows of one
 * bucket are on one machine, whatever the table. Servers connect to the coordinator, where tables
 * that are small stay. Code that differs for distributed tables checks `isDistributed`.
 */

/** In the order of their creation. The others are colocated with the first. */
const spreadTables = ['users', 'memories', 'memory_locations', 'tasks', 'idempotency_keys'];

/** Distributes newly created tables. */
export const distribute: Statement = {
  text: spreadTables
    .map((table, index) => {
      const place = index === 0 ? 'none' : spreadTables[0];
      return `SELECT create_distributed_table('${table}', 'bucket', colocate_with => '${place}');`;
    })
    .join('\n'),
  values: [],
  isScript: true,
};

type Run = (...statements: Statement[]) => Promise<Record<string, unknown>[][]>;

/** Whether the database has the extension. */
export async function hasCitus(run: Run): Promise<boolean> {
  const [rows = []] = await run(
    statement(`SELECT 1 AS one FROM pg_extension WHERE extname = 'citus'`),
  );
  return rows.length > 0;
}

/**
 * The setting synchronous_commit of each worker. A server turns it on for its own sessions, which
 * does not affect the workers.
 */
export async function readWorkerCommits(connection: Connection): Promise<string[]> {
  const [rows = []] = (await connection.run([
    statement(`SELECT result FROM run_command_on_workers('SHOW synchronous_commit')`),
  ])) as { result: string }[][];
  return rows.map(({ result }) => result);
}

/** Whether the tables are distributed. A database may have the extension for other reasons. */
export async function readIsDistributed(connection: Connection): Promise<boolean> {
  const run: Run = (...statements) => connection.run(statements);
  if (!(await hasCitus(run))) return false;
  const [rows = []] = await run(
    statement(`SELECT 1 AS one FROM pg_dist_partition WHERE logicalrelid = 'users'::regclass`),
  );
  return rows.length > 0;
}
