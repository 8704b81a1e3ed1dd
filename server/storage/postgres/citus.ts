/**
 * Citus distributes tables across several machines. All of a user's rows are on the same machine.
 * Servers connect to the coordinator, which also stores the small tables. No other file knows of
 * Citus.
 */

/** The tables that are distributed by the user, in order of creation. */
const ofUsers = ['users', 'memories', 'tasks', 'vectors', 'snapshots', 'vector_parts'];
const distributed = [...ofUsers, 'idempotency_keys'];

/**
 * Distributes those of these tables that contain data of users. They must be empty. An index is
 * unique only within a machine, so it must contain the user. New ids are unique, because they are
 * random; writes that store given ids take turns.
 */
export function distribute(tables: readonly string[]): string {
  const chosen = distributed.filter((table) => tables.includes(table));
  return `${tables.includes('memories') ? withUserInKey : ''}
    ${chosen.map(distributeTable).join('\n  ')}`;
}

const withUserInKey = `ALTER TABLE memories DROP CONSTRAINT memories_pkey;
  ALTER TABLE memories ADD PRIMARY KEY (project_id, id, user_id);`;

function distributeTable(table: string): string {
  const column = ofUsers.includes(table) ? 'user_id' : 'key';
  const colocated = table === 'users' || column === 'key' ? 'none' : 'users';
  return `SELECT create_distributed_table('${table}', '${column}', colocate_with => '${colocated}');`;
}

/**
 * Only the advisory lock is held until the workers have committed, so that the next
 * transaction sees the memories. The row shows whether this transaction has the lock already.
 */
const lockIds = `UPDATE projects SET name = name
  WHERE project_id = $1 AND xmin <> CAST(pg_current_xact_id() AS xid)
    AND pg_advisory_xact_lock(project_id) IS NOT NULL`;

/** See `Dialect`. Citus can lock the rows of a SELECT only within a shard. */
export const citusDialect = { lockIds, skipLocked: '' };

/** Without Citus, PostgreSQL ignores these settings. */
export const citusSettings = {
  // In parallel mode, the whole cluster runs only one multi-shard write at a time.
  'citus.multi_shard_modify_mode': 'sequential',
  // Forwards SET LOCAL, which shortens the lock timeout of a transaction, to the workers.
  'citus.propagate_set_commands': 'local',
};

/** Whether the server has loaded Citus, which alone has this setting. */
export const isLoaded = `current_setting('citus.shard_count', true) IS NOT NULL`;

/** Citus cannot plan statements on several shards for any values. */
export const planForValues = 'SET plan_cache_mode = auto';

/** Runs a statement and returns its rows. */
type Read = (text: string) => Promise<Record<string, unknown>[]>;

export async function hasCitus(read: Read): Promise<boolean> {
  return (await read(`SELECT 1 AS one FROM pg_extension WHERE extname = 'citus'`)).length > 0;
}

export async function isDistributed(read: Read): Promise<boolean> {
  if (!(await hasCitus(read))) return false;
  const users = `SELECT 1 AS one FROM pg_dist_partition WHERE logicalrelid = 'users'::regclass`;
  return (await read(users)).length > 0;
}

/**
 * Returns the synchronous_commit of each worker, which the settings of our sessions do not affect.
 * Null if the tables are not distributed; other applications may also use the extension.
 */
export async function readWorkerCommits(read: Read): Promise<string[] | null> {
  if (!(await isDistributed(read))) return null;
  const rows = await read(`SELECT result FROM run_command_on_workers('SHOW synchronous_commit')`);
  return rows.map(({ result }) => String(result));
}
