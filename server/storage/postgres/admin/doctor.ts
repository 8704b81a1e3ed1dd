import { aboutRows, ok, unfinishedCopyFound } from '../../findings.ts';
import type { Finding } from '../../types/admin.ts';
import { readWorkerCommits } from '../citus.ts';
import { type Connection, createConnection, query } from '../connection.ts';
import { cannotOpen } from '../errors.ts';
import { isUnfinishedCopy, readVersion, schemaVersion } from '../migrate.ts';
import { inSnapshot } from '../tx.ts';

export async function diagnose(url: string, now: number): Promise<Finding[]> {
  const connection = createConnection({ url, purpose: 'doctor' });
  try {
    return await look(connection, now);
  } catch (error) {
    const cause = cannotOpen(error);
    const found = cause instanceof Error ? cause.message : 'the database cannot be read';
    const advice =
      'check that PostgreSQL is running and that the host, user, password and database name are correct';
    return [{ name: 'database', level: 'failure', found, advice }];
  } finally {
    connection.close();
  }
}

type Settings = {
  version: string;
  encoding: string;
  fsync: string;
  fullPageWrites: string;
  commit: string;
  standbys: string;
  connected: number;
  now: number;
  used: number;
  max: number;
  seesAll: boolean;
  oldestTransactionSeconds: number;
  keptWalBytes: number;
};

const settingsQuery = `SELECT current_setting('server_version') AS version,
    current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS "fullPageWrites",
    (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS "commit",
    current_setting('synchronous_standby_names') AS standbys,
    (SELECT count(*) FROM pg_stat_replication)::float8 AS connected,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
    (SELECT sum(numbackends) FROM pg_stat_database)::float8 AS used,
    current_setting('max_connections')::float8 AS max,
    pg_has_role('pg_read_all_stats', 'USAGE') AS "seesAll",
    coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start))
      FROM pg_stat_activity WHERE pid <> pg_backend_pid()), 0)::float8
      AS "oldestTransactionSeconds",
    coalesce((SELECT max(pg_current_wal_lsn() - restart_lsn)
      FROM pg_replication_slots WHERE NOT active), 0)::float8 AS "keptWalBytes"`;

async function look(connection: Connection, now: number): Promise<Finding[]> {
  const [settings] = await query<Settings>(connection, settingsQuery);
  if (settings === undefined) throw new Error('the server returned no settings');
  const schema = await readVersion(connection);
  const findings = [
    aboutVersion(settings, schema),
    aboutDurability(settings),
    aboutStandbys(settings),
    aboutClock(settings, now),
    aboutConnections(settings),
    aboutTransactions(settings),
    aboutSlots(settings),
  ];
  if (schema === 0) return findings;
  const workers = await readWorkerCommits((text) => query(connection, text));
  if (workers !== null) findings.push(aboutWorkers(workers));
  if (await isUnfinishedCopy(connection)) return [...findings, unfinishedCopyFound];
  if (schema < schemaVersion) return findings;
  return [...findings, ...(await aboutContents(connection, now))];
}

function aboutVersion({ version, encoding }: Settings, schema: number): Finding {
  const found = `PostgreSQL ${version}, ${encoding}, schema ${schema}`;
  if (schema === schemaVersion) return ok('version', found);
  const advice =
    'the next server start creates or upgrades the tables; until then, they are not examined';
  return { name: 'version', level: 'ok', found, advice };
}

function aboutDurability({ fsync, fullPageWrites, commit }: Settings): Finding {
  const name = 'durability';
  const found = `fsync ${fsync}, full_page_writes ${fullPageWrites}, synchronous_commit ${commit}`;
  const advice = (setting: string) =>
    `acknowledged writes can be lost in a power failure: set ${setting} = on`;
  if (fsync !== 'on') return { name, level: 'failure', found, advice: advice('fsync') };
  if (fullPageWrites !== 'on') {
    return { name, level: 'failure', found, advice: advice('full_page_writes') };
  }
  // `synchronous_commit = off` is accepted, because the service turns it on for its connections.
  return ok(name, found);
}

function aboutWorkers(commits: readonly string[]): Finding {
  const name = 'workers';
  const found = `${commits.length}, synchronous_commit ${[...new Set(commits)].join(', ')}`;
  if (!commits.includes('off')) return ok(name, found);
  const advice =
    'acknowledged writes can be lost in a power failure: on each worker, set synchronous_commit = on';
  return { name, level: 'failure', found, advice };
}

function aboutStandbys({ standbys, connected, commit }: Settings): Finding {
  const name = 'standbys';
  const found = `${connected} connected, synchronous: ${standbys || 'none'}`;
  if (standbys !== '' && connected === 0) {
    const advice =
      'every write waits for a standby: connect one, or change synchronous_standby_names';
    return { name, level: 'failure', found, advice };
  }
  if (standbys !== '' && commit === 'local') {
    const advice = 'a failover can lose acknowledged writes: set synchronous_commit = on';
    return { name, level: 'warning', found, advice };
  }
  return ok(name, found);
}

const maxClockDifferenceMs = 5_000;

function aboutClock(settings: Settings, now: number): Finding {
  const difference = Math.round(Math.abs(settings.now - now));
  const found = `differs by ${difference} ms from the clock of this machine`;
  if (difference <= maxClockDifferenceMs) return ok('clock', found);
  return { name: 'clock', level: 'warning', found, advice: 'synchronize both clocks with NTP' };
}

function aboutConnections({ used, max }: Settings): Finding {
  const found = `${used} of ${max} in use`;
  // mutate-ignore boundary: one connection more
  if (used < 0.8 * max) return ok('connections', found);
  const advice = 'raise max_connections, or run fewer servers';
  return { name: 'connections', level: 'warning', found, advice };
}

const maxTransactionSeconds = 15 * 60;

/** PostgreSQL hides from other roles when a transaction began. */
function aboutTransactions({ oldestTransactionSeconds, seesAll }: Settings): Finding {
  const oldest = seesAll ? 'the oldest' : 'the oldest of this role';
  const found = `${oldest} has been open for ${Math.round(oldestTransactionSeconds)} s`;
  if (oldestTransactionSeconds < maxTransactionSeconds) return ok('transactions', found);
  const advice =
    'an open transaction prevents the removal of deleted rows; find it in pg_stat_activity and end it';
  return { name: 'transactions', level: 'warning', found, advice };
}

const maxKeptWalBytes = 2 ** 30;

function aboutSlots({ keptWalBytes }: Settings): Finding {
  const found = `${Math.round(keptWalBytes / 1_048_576)} MB of WAL retained for inactive slots`;
  if (keptWalBytes < maxKeptWalBytes) return ok('replication slots', found);
  const advice = 'a standby or archiver is disconnected: reconnect it or drop its slot';
  return { name: 'replication slots', level: 'warning', found, advice };
}

type Counts = { expiredLeases: number; deadShare: number };

const countsQuery = `SELECT
    (SELECT count(*) FROM tasks WHERE state = 'running'
      AND leased_until < extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "expiredLeases",
    (SELECT coalesce(max(n_dead_tup::float8 / (n_live_tup + 10000)), 0)
      FROM pg_stat_user_tables WHERE schemaname = current_schema()) AS "deadShare"`;

async function aboutContents(connection: Connection, now: number): Promise<Finding[]> {
  const [counts] = await query<Counts>(connection, countsQuery);
  // mutate-ignore constant: the statement returns a row
  const { expiredLeases = 0, deadShare = 0 } = counts ?? {};
  const more = `, ${expiredLeases} with an expired lease`;
  const findings = await inSnapshot(await connection.session(), (tx) => aboutRows(tx, now, more));
  return [...findings, aboutDeadRows(deadShare)];
}

function aboutDeadRows(deadShare: number): Finding {
  const found = `at most ${Math.round(deadShare * 100)}% of any table`;
  if (deadShare < 1) return ok('dead rows', found);
  const advice = 'autovacuum is not keeping up: check its settings, and end long transactions';
  return { name: 'dead rows', level: 'warning', found, advice };
}
