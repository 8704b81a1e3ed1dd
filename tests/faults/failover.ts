import { newNode, type PostgresNode } from '../support/postgres-pair.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { createFleet, startPrimary } from './fleet.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { startLoad } from './load.ts';

const rounds = { quick: 2, full: 20 };
const servers = 2;
const clients = 6;
const loadMs = { from: 400, to: 1_200 };
/**
 * How long the standby is stopped before the primary crashes. A write acknowledged during this time
 * would exist only on the primary.
 */
const standbyAwayMs = 300;
const drainWithinMs = 60_000;

export const failover: Harness = {
  id: 'P35',
  promise: 'No acknowledged write is lost when PostgreSQL fails over to a synchronous standby',
  proof:
    `${servers} servers connect through a proxy; the primary crashes under load from ` +
    `${clients} clients, the standby is promoted, and the former primary becomes its standby; in ` +
    'every second round, the standby is stopped before the primary crashes; the memories that ' +
    'the API returns are compared with the acknowledged writes',
  control: { without: 'synchronous_standby_names', variants: ['asynchronous-standby'] },
  run,
};

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  await using first = await startPrimary();
  await using second = newNode();
  const pair = { primary: first, standby: second };
  const isSynchronous = !variants.includes('asynchronous-standby');
  using proxy = proxyTo(first.url);
  await using fleet = createFleet(servers, { databaseUrl: proxy.url, variants, random });
  await attachStandby(pair, isSynchronous);
  await fleet.start();
  const load = startLoad({ target: fleet.target, violations, random, clients });
  let slowestMs = 0;
  for (let round = 0; round < rounds[tier]; round += 1) {
    await Bun.sleep(random.between(loadMs.from, loadMs.to));
    const begun = performance.now();
    await failOver(pair, round % 2 === 1);
    proxy.moveTo({ hostname: '127.0.0.1', port: pair.primary.port });
    slowestMs = Math.max(slowestMs, performance.now() - begun);
    await Bun.sleep(random.between(loadMs.from, loadMs.to));
    await attachStandby(pair, isSynchronous);
  }
  const compared = await load.settle(drainWithinMs);
  return { failovers: rounds[tier], ...compared, slowestFailoverMs: Math.round(slowestMs) };
}

type Pair = { primary: PostgresNode; standby: PostgresNode };

/**
 * Attaches the standby and waits until replication is synchronous, unless `isSynchronous` is false.
 * Before that, the primary acknowledges writes without the standby.
 */
async function attachStandby({ primary, standby }: Pair, isSynchronous: boolean): Promise<void> {
  await standby.follow(primary);
  const names = isSynchronous ? '*' : '';
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await primary.query('SELECT pg_reload_conf()');
  const state = isSynchronous ? 'sync' : 'async';
  const isAttached = async () => {
    const [row] = await primary.query(
      `SELECT count(*)::int4 AS standbys FROM pg_stat_replication
       WHERE state = 'streaming' AND sync_state = '${state}'`,
    );
    return row?.standbys === 1;
  };
  await until(isAttached, { what: 'the standby', timeoutMs: 30_000 });
}

/**
 * Crashes the primary, promotes the standby and swaps their roles. The former primary stays
 * stopped.
 */
async function failOver(pair: Pair, isAwayFirst: boolean): Promise<void> {
  const { primary, standby } = pair;
  if (isAwayFirst) {
    await standby.stopNow();
    await Bun.sleep(standbyAwayMs);
  }
  await primary.stopNow();
  if (isAwayFirst) await standby.start();
  await standby.promote();
  Object.assign(pair, { primary: standby, standby: primary });
}
