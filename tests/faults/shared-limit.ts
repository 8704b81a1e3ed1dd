import { query } from '../support/postgres.ts';
import type { Random } from '../support/random.ts';
import { send } from './api.ts';
import { onPostgres } from './fleet.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { faultKey } from './target.ts';

const servers = 3;
const quota = 600;
const seconds = { quick: 2, full: 10 };
const windows = { quick: 5, full: 12 };
const connections = 12;
const usable = 0.95;
const pauseMs = 20;
/** The pause between requests to a server that is not flooded, in the second half of the run. */
const politePauseMs = 200;
/** The tolerance at both ends of a window. The client measures time in whole milliseconds. */
const toleranceMs = 2;

export const sharedLimit: Harness = {
  id: 'P31',
  promise:
    'Several servers on one PostgreSQL database share one rate limit: together they accept no ' +
    'more requests than the limit, and at least 95 % of it',
  proof:
    `${servers} servers share a limit of ${quota} requests per window; ${connections} ` +
    'connections flood all servers, then mostly one server while the other two receive ' +
    'occasional requests; a database trigger records the windows; the accepted requests must not ' +
    'exceed the limit in any window and must reach 95 % of it in every window except the last',
  control: { without: 'the shared counter in the database', variants: ['rate-limit-in-memory'] },
  run,
};

/** An accepted request. Times are from `Date.now()`. */
type Granted = { sentAt: number; answeredAt: number };
type Window = { beginsAt: number; endsAt: number };

function run({ tier, variants, seed }: RunOptions): Promise<Finding> {
  const env = { MEMORY_RATE_LIMIT: `${quota}/${seconds[tier]}` };
  return onPostgres(servers, { seed, variants, env }, async ({ fleet, random, url }) => {
    const violations = createViolations();
    await noteWindows(url);
    const forMs = windows[tier] * seconds[tier] * 1_000;
    const { granted, rejected } = await flood(fleet.urls, random, forMs);
    const most = quota * (windows[tier] + 1);
    if (granted.length > most) {
      violations.add(`${granted.length} requests were accepted, at most ${most} allowed`);
    }
    const noted = await readWindows(url, seconds[tier] * 1_000);
    const counted = countWindows(granted, noted, violations);
    const figures = { accepted: granted.length, rejected, windows: noted.length, ...counted };
    return { figures, violations: violations.list() };
  });
}

async function flood(urls: readonly string[], random: Random, forMs: number) {
  const granted: Granted[] = [];
  let rejected = 0;
  const begun = Date.now();
  async function one(connection: number): Promise<void> {
    while (Date.now() < begun + forMs) {
      const isOneSided = Date.now() > begun + forMs / 2;
      const isPolite = isOneSided && connection < servers - 1;
      const index = isOneSided ? (isPolite ? connection + 1 : 0) : random.between(0, servers);
      const sentAt = Date.now();
      // The service answers this request without the database, except for the rate limit.
      const call = { method: 'GET' as const, path: '/v1/nope' };
      const reply = await send({ url: urls[index] ?? '', key: faultKey }, call);
      if (reply?.status === 404) granted.push({ sentAt, answeredAt: Date.now() });
      else rejected += 1;
      if (isPolite) await Bun.sleep(politePauseMs);
      else if (reply?.status === 429) await Bun.sleep(pauseMs);
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => one(index)));
  return { granted, rejected };
}

/** Creates a trigger that records the end of each window. */
async function noteWindows(url: string): Promise<void> {
  const statements = [
    'CREATE TABLE noted_windows (ends_at timestamptz PRIMARY KEY)',
    `CREATE FUNCTION note_window() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO noted_windows VALUES (NEW.ends_at) ON CONFLICT DO NOTHING; RETURN NULL; END $$`,
    `CREATE TRIGGER note_window AFTER INSERT OR UPDATE ON quotas FOR EACH ROW
       EXECUTE FUNCTION note_window()`,
  ];
  for (const text of statements) await query(url, text);
}

async function readWindows(url: string, windowMs: number): Promise<Window[]> {
  const rows = await query(
    url,
    `SELECT (extract(epoch FROM ends_at) * 1000)::float8 AS "endsAt" FROM noted_windows
     ORDER BY ends_at`,
  );
  return rows.map(({ endsAt }) => ({
    beginsAt: Number(endsAt) - windowMs,
    endsAt: Number(endsAt),
  }));
}

/**
 * Counts the accepted requests of each window. The flood ends during the last window, so only the
 * upper bound applies there.
 */
function countWindows(granted: Granted[], noted: Window[], violations: Violations) {
  let most = 0;
  let least = quota;
  for (const [index, { beginsAt, endsAt }] of noted.entries()) {
    const surely = granted.filter(
      ({ sentAt, answeredAt }) =>
        sentAt > beginsAt + toleranceMs && answeredAt < endsAt - toleranceMs,
    ).length;
    const perhaps = granted.filter(
      ({ sentAt, answeredAt }) =>
        answeredAt > beginsAt - toleranceMs && sentAt < endsAt + toleranceMs,
    ).length;
    most = Math.max(most, surely);
    if (surely > quota)
      violations.add(`${surely} requests were accepted in one window, at most ${quota} allowed`);
    if (index === noted.length - 1) continue;
    least = Math.min(least, perhaps);
    if (perhaps < quota * usable)
      violations.add(`only ${perhaps} requests were accepted in one window`);
  }
  return { quota, maxPerWindow: most, minPerWindow: least };
}
