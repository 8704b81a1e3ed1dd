import type { StorageHealth } from '../types/maintenance.ts';
import { type Connection, createConnection, type Row, statement } from './connection.ts';
import { faultOf, isLimitReached, isWriteFault } from './errors.ts';
import { tableNames } from './migrate.ts';

const probeEveryMs = 500;
const probeWithinMs = 2_000;
const silentMs = 3_000;
const silence = 'a connection to the database has not responded for three seconds';

/** Looks the tables up in the catalog, without locking them. */
const findUnusable = statement(
  `SELECT name, to_regclass(name) IS NULL AS "isMissing"
   FROM unnest(string_to_array($1, ' ')) AS name
   WHERE (SELECT bool_and(has_table_privilege(CAST(to_regclass(name) AS oid), privilege))
     FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege) IS NOT TRUE`,
  [tableNames.join(' ')],
);
/** A server's COMMIT waits without limit for a synchronous standby that is away. */
const findUnconfirmed = statement(
  `SELECT 1 AS one FROM pg_stat_activity
   WHERE datname = current_database() AND usename = current_user AND wait_event = 'SyncRep'
     AND clock_timestamp() - query_start > interval '3 seconds' LIMIT 1`,
);
const write = statement(`UPDATE maintenance SET value = value + 1 WHERE name = 'probe'`);
/**
 * Fails on a full disk, where `write` still succeeds on a page with free space: the rows do not fit
 * into the memory of the session, and take up about one megabyte in a temporary file.
 */
const useSpace = statement('SELECT count(*) FROM generate_series(1, 50000)');
const smallMemory = { work_mem: '64kB' };

const namesOf = (tables: readonly Row[]) => tables.map(({ name }) => name).join(', ');

/**
 * Tracks whether the database responds and accepts writes, so that /health can respond at once.
 * Probes it on a separate connection. A watched connection that does not respond causes only a
 * warning, because its statement may be slow.
 */
export function createHealth(url: string, watched: readonly Connection[]) {
  const connection: Connection = createConnection({
    url,
    purpose: 'health',
    settings: smallMemory,
  });
  let fault: string | null = null;
  let writeFault: string | null = null;
  let warning: string | null = null;
  let isProbing = false;

  async function readFault(): Promise<string | null> {
    const reads = [findUnusable, findUnconfirmed];
    const [unusable = [], unconfirmed = []] = await connection.run(reads, probeWithinMs);
    if (unconfirmed.length > 0) return 'no synchronous standby confirms writes';
    if (unusable.length === 0) return null;
    const missing = unusable.filter(({ isMissing }) => isMissing);
    return missing.length > 0
      ? `tables are missing from the database: ${namesOf(missing)}`
      : `the database user lacks privileges on tables: ${namesOf(unusable)}`;
  }

  /**
   * Retries a read that failed quickly, because the server may just have closed an idle session.
   */
  async function readFaultAgain(): Promise<string | null> {
    const begun = performance.now();
    try {
      return await readFault();
    } catch (error) {
      if (performance.now() - begun > probeEveryMs) throw error;
      return readFault();
    }
  }

  async function probe(): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    try {
      fault = await readFaultAgain();
      warning = null;
      if (writeFault !== null) await connection.run([useSpace, write], probeWithinMs);
      writeFault = null;
    } catch (error) {
      warning = null;
      if (isWriteFault(error)) writeFault = faultOf(error);
      else if (isLimitReached(error) && watched.some((one) => one.isOpen())) {
        fault = null;
        warning = faultOf(error);
      } else fault = faultOf(error) ?? 'the database does not respond';
    } finally {
      isProbing = false;
    }
  }

  const timer = setInterval(probe, probeEveryMs);
  return {
    state(): StorageHealth {
      const isSilent = watched.some((one) => one.silentMs() > silentMs);
      return { fault: fault ?? writeFault, warning: isSilent ? silence : warning };
    },
    /** Records the error of a write, unless the error is specific to that write. */
    note(error: unknown): void {
      if (isWriteFault(error)) writeFault = faultOf(error);
    },
    stop(): void {
      clearInterval(timer);
      connection.close();
    },
  };
}
