import { query, type Run, type Statement } from './statement.ts';

/**
 * Citus distributes tables across several machines. All of a bucket's rows in all tables are on the
 * same machine. Servers connect to the coordinator, which also stores the small tables.
 */

/** The distributed tables, in order of creation. All are colocated with the first table. */
const spreadTables = [
  'users',
  'memories',
  'memory_locations',
  'tasks',
  'idempotency_keys',
  'vectors',
];

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

export async function hasCitus(run: Run): Promise<boolean> {
  const rows = await query(run, `SELECT 1 AS one FROM pg_extension WHERE extname = 'citus'`);
  return rows.length > 0;
}

/** Returns each worker's synchronous_commit. The settings of our sessions do not affect it. */
export async function readWorkerCommits(run: Run): Promise<string[]> {
  const rows = await query<{ result: string }>(
    run,
    `SELECT result FROM run_command_on_workers('SHOW synchronous_commit')`,
  );
  return rows.map(({ result }) => result);
}

/** Whether the tables are distributed. Other applications may also use the extension. */
export async function readIsDistributed(run: Run): Promise<boolean> {
  if (!(await hasCitus(run))) return false;
  const rows = await query(
    run,
    `SELECT 1 AS one FROM pg_dist_partition WHERE logicalrelid = 'users'::regclass`,
  );
  return rows.length > 0;
}
