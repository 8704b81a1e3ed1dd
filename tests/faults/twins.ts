import { postgresUrl, query } from '../support/postgres.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { type Call, expectDrained, listAll, send, sendUntilKnown } from './api.ts';
import { type Fleet, onPostgres, terminateConnections } from './fleet.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { compareReplies, makeCall, note, nothingSeen, type Seen } from './replays.ts';
import { faultKey } from './target.ts';
import { startLoops } from './traffic/loops.ts';

const servers = 3;
const rounds = { quick: 3, full: 20 };
const keysPerRound = 50;
const twinsPerKey = 50;
/** There are fewer users than keys, so writes with different keys contend for the same users. */
const users = 30;
const killEveryMs = { from: 300, to: 900 };
const endWithinMs = 10_000;

/** Makes transactions overlap on fast machines. */
const lockedMs = 5;
/** Shorter than the service's own limit for a lock, so that PostgreSQL counts each deadlock. */
const deadlockTimeoutMs = 50;

export const twins: Harness = {
  id: 'P33',
  promise:
    'A request that is sent to several servers at the same time with one idempotency key takes ' +
    'effect once and always returns the same response',
  proof:
    `${servers} servers on one PostgreSQL database receive ${keysPerRound} keys at a time, each ` +
    `${twinsPerKey} times and in random order, while the servers are killed one after another; ` +
    'each key must have one response and one effect, and no deadlock may occur',
  control: { without: 'the consistent order of row locks', variants: ['unsorted-locks'] },
  run,
};

function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  return onPostgres(servers, { random, variants }, async ({ fleet, url, name }) => {
    await slowLocks(url, name);
    const seen: Seen[] = [];
    let kills = 0;
    const killer = startLoops([
      async () => {
        await Bun.sleep(random.between(killEveryMs.from, killEveryMs.to));
        await fleet.restart(kills % servers);
        kills += 1;
      },
    ]);
    for (let round = 0; round < rounds[tier]; round += 1) {
      seen.push(...(await sendRound(fleet, random, round)));
    }
    await killer.stop();
    await expectDrained(fleet.target, endWithinMs, violations);
    let stored = 0;
    for (const userId of userIds) stored += (await listAll(fleet.target, userId)).length;
    const compared = compareReplies(seen, stored, violations);
    await fleet.remove();
    const deadlocks = await countDeadlocks(name);
    if (deadlocks > 0) violations.add(`deadlocks occurred: ${deadlocks}`);
    return { keys: seen.length, kills, ...compared, deadlocks };
  });
}

/** Makes a transaction pause after each key that it locks. */
async function slowLocks(url: string, name: string): Promise<void> {
  const statements = [
    `CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       PERFORM pg_sleep(${lockedMs / 1_000}); RETURN NULL; END $$`,
    `CREATE TRIGGER pause AFTER INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION pause()`,
    `ALTER DATABASE "${name}" SET deadlock_timeout = '${deadlockTimeoutMs}ms'`,
  ];
  for (const text of statements) await query(url, text);
  // Only new sessions have the setting.
  await terminateConnections(url);
}

const userIds = Array.from({ length: users }, (_, index) => `twin ${index}`);

/**
 * Sends the request for each key `twinsPerKey` times, then retries it until its outcome is known.
 */
async function sendRound(fleet: Fleet, random: Random, round: number): Promise<Seen[]> {
  const keys = Array.from({ length: keysPerRound }, (_, index) => {
    const call = makeCall(random, round * keysPerRound + index, random.pick(userIds));
    return { call, seen: nothingSeen() };
  });
  // Each server first receives every key once, so that it commits several keys as a group.
  for (const twinsAtOnce of [servers, twinsPerKey - servers]) {
    const sends = keys.flatMap((key) =>
      Array.from({ length: twinsAtOnce }, (_, twin) => ({
        ...key,
        url: fleet.urls[twin % servers],
      })),
    );
    await Promise.all(
      shuffled(sends, random).map(async ({ call, seen, url = '' }) => {
        note(seen, await send({ url, key: faultKey }, call));
      }),
    );
  }
  await Promise.all(keys.map(({ call, seen }) => sendAgain(fleet, call, seen)));
  return keys.map(({ seen }) => seen);
}

async function sendAgain(fleet: Fleet, call: Call, seen: Seen): Promise<void> {
  note(seen, await sendUntilKnown(fleet.target, call, { onUnknown: () => (seen.sends += 1) }));
}

function shuffled<T>(items: T[], random: Random): T[] {
  return items
    .map((item) => ({ item, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/**
 * Waits until all sessions have ended, because a session reports its statistics when it ends. Then
 * returns the number of deadlocks.
 */
async function countDeadlocks(name: string): Promise<number> {
  const base = await postgresUrl();
  const isIdle = async () => {
    const text = 'SELECT count(*)::int4 AS sessions FROM pg_stat_activity WHERE datname = $1';
    const [row] = await query(base, text, [name]);
    return row?.sessions === 0;
  };
  await until(isIdle, { what: 'the end of all sessions', timeoutMs: endWithinMs });
  const text = 'SELECT deadlocks::int4 FROM pg_stat_database WHERE datname = $1';
  const [row] = await query(base, text, [name]);
  return Number(row?.deadlocks);
}
