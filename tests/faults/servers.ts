import { query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { sendOrThrow } from './api.ts';
import { type Fleet, onSeparatePostgres } from './fleet.ts';
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
    const filler = createRecords(fleet);
    const end = performance.now() + durationMs[tier];
    while (performance.now() < end) {
      await until(async () => filler.total() - (await countResults(url)) < maxPending, waiting);
      // Enqueues enough records to keep every server busy when the fault occurs.
      await filler.accept(batchesAtOnce);
      await Bun.sleep(random.between(0, 100));
      await disturb(pauseMs);
    }
    const compared = await load.settle(drainWithinMs);
    const effects = await auditEffects(url, filler.total(), violations);
    const rejectedResults = fleet.sumOf(/^rejected (\d+)/gm);
    return { ...compared, ...faults, ...effects, rejectedResults };
  });
}

/** Ingests records that are never changed later, so that each must have exactly one result. */
function createRecords({ target }: Fleet) {
  let batches = 0;
  async function acceptBatch(): Promise<void> {
    batches += 1;
    const name = `fill-${batches}`;
    const items = Array.from({ length: perBatch }, (_, index) => {
      return { userId, type: 'document', data: { text: `record ${index} of ${name}` } };
    });
    const call = { method: 'POST' as const, path: '/v1/ingest/batch', body: { items } };
    await sendOrThrow(target, { ...call, idempotencyKey: name });
  }
  return {
    async accept(count: number) {
      await Promise.all(Array.from({ length: count }, acceptBatch));
    },
    total: () => batches * perBatch,
  };
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
  const { effects, records: done, mostAttempts } = row as Record<string, number>;
  const doubleEffects = (effects ?? 0) - (done ?? 0);
  const lostRecords = expected - (done ?? 0);
  if (doubleEffects > 0) violations.add(`${doubleEffects} results were stored twice`);
  if (lostRecords > 0) violations.add(`${lostRecords} records have no result`);
  return {
    records: expected,
    results: effects ?? 0,
    duplicateResults: doubleEffects,
    lostRecords,
    maxAttempts: mostAttempts ?? 0,
  };
}
