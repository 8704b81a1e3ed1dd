import { newWholeDatabase, postgresUrl, query, type TestDatabase } from '../support/postgres.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { findProgram } from '../support/postgres-program.ts';
import { createRandom, type Random } from '../support/random.ts';
import type { Finding, RunOptions } from './harness.ts';
import { createTarget, restart, type Target } from './target.ts';

/** Several server processes on one database. Clients use the fleet like a single server. */
export type Fleet = {
  /** Each access to `url` returns the URL of a random running server. */
  target: Target;
  /** The URLs of the servers, in order. */
  readonly urls: readonly string[];
  start(): Promise<void>;
  /** Kills a server and starts it again. */
  restart(index: number): Promise<void>;
  /** Suspends a server for `forMs` with SIGSTOP. */
  stall(index: number, forMs: number): Promise<void>;
  /**
   * Returns the sum of the numbers that `pattern` captures in the servers' standard error, across
   * all starts. A match without a number counts as 1.
   */
  count(pattern: RegExp): number;
  remove(): Promise<void>;
};

export type FleetOptions = { variants: string[]; env?: Record<string, string> };

export function createFleet(
  size: number,
  { random, ...options }: FleetOptions & { databaseUrl: string; random: Random },
): Fleet {
  const targets = Array.from({ length: size }, () => createTarget(options));
  const logs: string[] = [];

  function anyUrl(): string {
    const running = targets.filter((target) => target.running() && target.url !== '');
    return random.pick(running.length > 0 ? running : targets).url;
  }

  const [first = createTarget(options)] = targets;
  return {
    target: {
      ...first,
      get url() {
        return anyUrl();
      },
      whenUp: () => Promise.any(targets.map((target) => target.whenUp())),
    },
    get urls() {
      return targets.map(({ url }) => url);
    },
    async start() {
      // Starting all servers at once makes them create the tables concurrently.
      await Promise.all(targets.map((target) => target.start()));
    },
    async restart(index) {
      const target = targets[index];
      if (target === undefined) return;
      logs.push(target.log());
      await restart(target);
    },
    async stall(index, forMs) {
      targets[index]?.signal('SIGSTOP');
      await Bun.sleep(forMs);
      targets[index]?.signal('SIGCONT');
    },
    count(pattern) {
      const texts = [...logs, ...targets.map((target) => target.log())];
      const found = texts.flatMap((text) => [...text.matchAll(pattern)]);
      return found.reduce((sum, [, number = '1']) => sum + Number(number), 0);
    },
    async remove() {
      await Promise.all(targets.map((target) => target.remove()));
    },
  };
}

/** The running servers of a harness, and the URL and name of their database. */
export type OnPostgres = { fleet: Fleet; random: Random; url: string; name: string };

/**
 * Runs a harness with servers on a new PostgreSQL database. If PostgreSQL is not available, returns
 * a skipped finding with the reason.
 */
export function onPostgres(
  size: number,
  options: DatabaseOptions,
  run: (given: OnPostgres) => Promise<Finding>,
): Promise<Finding> {
  return onDatabase({ check: postgresUrl, create: newWholeDatabase }, size, options, run);
}

/**
 * Like `onPostgres`, but on a separate PostgreSQL server, which the harness may crash. Ignores
 * TEST_POSTGRES_URL.
 */
export function onSeparatePostgres(
  size: number,
  options: DatabaseOptions,
  run: (given: OnPostgres & { crash(): Promise<void> }) => Promise<Finding>,
): Promise<Finding> {
  return onDatabase({ check: findProgram, create: newSeparateServer }, size, options, run);
}

type DatabaseOptions = Pick<RunOptions, 'seed'> & FleetOptions;

/** `check` throws if PostgreSQL is not available. */
async function onDatabase<D extends TestDatabase>(
  { check, create }: { check: () => unknown; create: () => Promise<D> },
  size: number,
  { seed, ...options }: DatabaseOptions,
  run: (given: D & { fleet: Fleet; random: Random }) => Promise<Finding>,
): Promise<Finding> {
  try {
    await check();
  } catch (error) {
    return { figures: {}, violations: [], skipped: String(error) };
  }
  const database = await create();
  const random = createRandom(seed);
  const fleet = createFleet(size, { ...options, databaseUrl: database.url, random });
  try {
    await fleet.start();
    return await run({ ...database, fleet, random });
  } finally {
    await fleet.remove();
    await database.drop();
  }
}

async function newSeparateServer() {
  const node = await newPrimary();
  return {
    url: node.url,
    name: 'postgres',
    drop: () => node.remove(),
    async crash() {
      await node.stopNow();
      await node.start();
    },
  };
}

/** Terminates all other connections to the database, including those with an open transaction. */
export async function terminateConnections(url: string): Promise<void> {
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}
