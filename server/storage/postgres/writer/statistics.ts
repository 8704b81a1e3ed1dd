import { type Connection, createConnection } from '../connection.ts';
import { statement } from '../statement.ts';

/** A few times faster than autovacuum, which looks at a database once a minute. */
const everyMs = 3_000;
/** ANALYZE of a table that no longer fits into memory reads a sample from the disk. */
const deadlineMs = 60_000;

/**
 * Tables of ours that have never been analyzed, or have become ten times as large since. Small
 * changes, and tables of another owner, are left to autovacuum.
 */
const grown = statement(
  `SELECT c.oid::regclass::text AS "table"
   FROM pg_class AS c JOIN pg_stat_all_tables AS s ON s.relid = c.oid
   WHERE c.oid IN ('memories'::regclass, 'tasks'::regclass, 'users'::regclass,
       'idempotency_keys'::regclass)
     AND s.n_mod_since_analyze >= 1000 AND pg_has_role(c.relowner, 'USAGE')
     AND (coalesce(s.last_analyze, s.last_autoanalyze) IS NULL
       OR s.n_mod_since_analyze >= 10 * c.reltuples)`,
);

/**
 * Analyzes tables soon after they have grown. Every key begins with project and bucket, so without
 * statistics the planner considers all indexes equally good, and a statement planned for an empty
 * table may read a whole bucket for each row. The returned function stops it.
 */
export function keepStatistics(url: string, shared: Connection): () => Promise<void> {
  let running = Promise.resolve();

  async function analyzeGrown(): Promise<void> {
    const [tables = []] = await shared.run([grown]);
    if (tables.length > 0) await analyze(tables.map(({ table }) => String(table)));
  }

  /** On a separate connection, because it may take seconds. */
  async function analyze(tables: string[]): Promise<void> {
    const connection = createConnection({ url, purpose: 'statistics' });
    try {
      await connection.run([statement(`ANALYZE ${tables.join(', ')}`)], deadlineMs);
    } finally {
      connection.close();
    }
  }

  const timer = setInterval(() => {
    // After an error, the next run tries again, and so does autovacuum.
    running = running.then(analyzeGrown).catch(() => {});
  }, everyMs);
  return () => {
    clearInterval(timer);
    return running;
  };
}
