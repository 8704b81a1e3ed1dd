import { type Connection, createConnection, query, statement } from './connection.ts';

/** How often to check the tables. By default, autovacuum checks a database once a minute. */
const everyMs = 3_000;
const pauseAfterErrorMs = 60_000;
/** ANALYZE on a table that is larger than memory reads a sample from disk. */
const deadlineMs = 60_000;

/**
 * Selects the tables with at least 1000 rows that have never been analyzed or have grown tenfold
 * since the last analysis. Smaller changes, and tables with another owner, are left to autovacuum.
 */
const grown = `SELECT c.oid::regclass::text AS "table" FROM pg_class AS c
  WHERE c.oid IN ('memories'::regclass, 'tasks'::regclass, 'users'::regclass,
      'idempotency_keys'::regclass)
    AND pg_stat_get_live_tuples(c.oid) >= 1000 AND pg_has_role(c.relowner, 'USAGE')
    AND (coalesce(pg_stat_get_last_analyze_time(c.oid),
        pg_stat_get_last_autoanalyze_time(c.oid)) IS NULL
      OR pg_stat_get_live_tuples(c.oid) >= 10 * c.reltuples)`;

/**
 * Analyzes tables soon after they have grown, until the returned function is called. Without
 * statistics, the planner cannot choose between indexes, because most begin with project and user.
 * A statement may then read all of a user's rows for each row. On Citus, the tables have no rows
 * here, and the workers run their own autovacuum.
 */
export function keepStatistics(url: string, shared: Connection): () => void {
  let isRunning = false;
  let pausedUntil = 0;
  let analyzing: Connection | null = null;

  async function analyzeGrown(): Promise<void> {
    const rows = await query(shared, grown);
    if (rows.length === 0) return;
    // ANALYZE may take seconds, so it runs on a separate connection.
    analyzing = createConnection({ url, purpose: 'statistics' });
    const tables = rows.map(({ table }) => table).join(', ');
    await analyzing.run([statement(`ANALYZE (SKIP_LOCKED) ${tables}`)], deadlineMs);
  }

  const timer = setInterval(async () => {
    if (isRunning || performance.now() < pausedUntil) return;
    isRunning = true;
    try {
      await analyzeGrown();
    } catch {
      // Ignore the error, because autovacuum also analyzes the tables.
      pausedUntil = performance.now() + pauseAfterErrorMs;
    } finally {
      analyzing?.close();
      analyzing = null;
      isRunning = false;
    }
  }, everyMs);

  return () => {
    clearInterval(timer);
    analyzing?.close();
  };
}
