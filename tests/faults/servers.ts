import { query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type Call, sendOrThrow } from './api.ts';
import { onSeparatePostgres } from './fleet.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { startLoad } from './load.ts';

const servers = 3;
const durationMs = { quick: 15_000, full: 600_000 };
const clients = 6;
const perBatch = 100;
const batchesAtOnce = 6;
/** Longer than the lease of the variant 'short-lease'. */
const pauseMs = 1_600;
/** With more records in the queue, the filler waits, so that it is empty soon after the load. */
const maxPending = 20_000;
const drainWithinMs = 60_000;
const userId = 'queue';
const waiting = { what: 'a shorter queue', timeoutMs: drainWithinMs };

/**
 * These variants remove no protection: they shorten leases, slow down the worker, and count
 * rejected results.
 */
const wiring = ['short-lease', 'slow-split', 'count-rejected'];

export const severalServers: Harness = {
  id: 'P9',
  promise:
    'Several servers on one PostgreSQL database lose no record and store each result once; a ' +
    'stalled worker cannot overwrite a newer result',
  proof:
    `clients write to ${servers} servers on one database; at random, a server is killed, a ` +
    'server is suspended for longer than a lease, the database terminates all connections, or ' +
    'PostgreSQL crashes and restarts; a database trigger counts the stored results',
  control: { without: 'the fencing tokens of leases', variants: ['no-lease-check'] },
  run,
};

function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  const options = { random, variants: [...wiring, ...variants] };
  return onSeparatePostgres(servers, options, async ({ fleet, url, disturb, faults }) => {
    await countEffects(url);
    const load = startLoad({ target: fleet.target, violations, random, clients });
    let batches = 0;
    const accept = () => sendOrThrow(fleet.target, batchOf(batches++));
    const end = performance.now() + durationMs[tier];
    while (performance.now() < end) {
      const isShort = async () => batches * perBatch - (await countResults(url)) < maxPending;
      await until(isShort, waiting);
      // Enqueues enough records to keep every server busy when the fault occurs.
      await Promise.all(Array.from({ length: batchesAtOnce }, accept));
      await Bun.sleep(random.between(0, 100));
      await disturb(pauseMs);
    }
    const compared = await load.settle(drainWithinMs);
    const effects = await auditEffects(url, batches * perBatch, violations);
    const rejectedResults = fleet.sumOf(/^rejected (\d+)/gm);
    return { ...compared, ...faults, ...effects, rejectedResults };
  });
}

/** Returns records that are never changed later, so that each must have exactly one result. */
function batchOf(number: number): Call {
  const items = Array.from({ length: perBatch }, (_, index) => {
    return { userId, type: 'document', data: { text: `record ${index} of ${number}` } };
  });
  const idempotencyKey = `fill-${number}`;
  return { method: 'POST', path: '/v1/ingest/batch', body: { items }, idempotencyKey };
}

async function countResults(url: string): Promise<number> {
  const [row] = await query(url, 'SELECT count(*)::int4 AS results FROM effects');
  return Number(row?.results ?? 0);
}

/** Creates a trigger that records each result that a worker stores. */
async function countEffects(url: string): Promise<void> {
  const statements = [
    'CREATE TABLE effects (memory_id text NOT NULL, user_id text NOT NULL)',
    `CREATE FUNCTION note_effect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO effects VALUES (NEW.memory_id, NEW.user_id); RETURN NULL; END $$`,
    `CREATE TRIGGER note_effect AFTER UPDATE ON tasks FOR EACH ROW
       WHEN (NEW.state = 'complete' AND NEW.last_change IS DISTINCT FROM OLD.last_change)
       EXECUTE FUNCTION note_effect()`,
  ];
  for (const text of statements) await query(url, text);
}

async function auditEffects(url: string, expected: number, violations: Violations) {
  const [row] = await query(
    url,
    `SELECT count(*)::int4 AS effects, count(DISTINCT memory_id)::int4 AS records,
       (SELECT max(attempts) FROM tasks)::int4 AS "mostAttempts"
     FROM effects WHERE user_id = $1`,
    [userId],
  );
  const { effects = 0, records = 0, mostAttempts = 0 } = row as Record<string, number>;
  const duplicateResults = effects - records;
  const lostRecords = expected - records;
  if (duplicateResults > 0) violations.add(`${duplicateResults} results were stored twice`);
  if (lostRecords > 0) violations.add(`${lostRecords} records have no result`);
  const found = { duplicateResults, lostRecords, maxAttempts: mostAttempts ?? 0 };
  return { records: expected, results: effects, ...found };
}
