import { newWholeDatabase, postgresUrl, query, type TestDatabase } from '../support/postgres.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { findProgram } from '../support/postgres-program.ts';
import type { Random } from '../support/random.ts';
import { Skipped } from './harness.ts';
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

export function createFleet(
  size: number,
  { random, ...options }: Options & { databaseUrl: string },
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
export type OnPostgres = { fleet: Fleet; url: string; name: string };

type Options = { variants: string[]; env?: Record<string, string>; random: Random };

/** Runs `work` with servers on a new PostgreSQL database. */
export function onPostgres<T>(
  size: number,
  options: Options,
  work: (given: OnPostgres) => Promise<T>,
): Promise<T> {
  return onDatabase({ check: postgresUrl, create: newWholeDatabase }, size, options, work);
}

/**
 * Like `onPostgres`, but on a separate PostgreSQL server, which the harness may crash. Ignores
 * TEST_POSTGRES_URL.
 */
export function onSeparatePostgres<T>(
  size: number,
  options: Options,
  work: (given: OnPostgres & { crash(): Promise<void> }) => Promise<T>,
): Promise<T> {
  return onDatabase({ check: findProgram, create: newSeparateServer }, size, options, work);
}

/** `check` throws if PostgreSQL is not available. The run is then skipped. */
async function onDatabase<D extends TestDatabase, T>(
  { check, create }: { check: () => unknown; create: () => Promise<D> },
  size: number,
  options: Options,
  work: (given: D & { fleet: Fleet }) => Promise<T>,
): Promise<T> {
  try {
    await check();
  } catch (error) {
    throw new Skipped(String(error));
  }
  const database = await create();
  const fleet = createFleet(size, { ...options, databaseUrl: database.url });
  try {
    await fleet.start();
    return await work({ ...database, fleet });
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
