import { query } from '../support/postgres.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { findProgram } from '../support/postgres-program.ts';
import type { Random } from '../support/random.ts';
import { Skipped } from './harness.ts';
import { createTarget, restart, type Target } from './target.ts';

/** Several server processes on one database. Clients use the fleet like a single server. */
export type Fleet = {
  /** Each access to `url` returns the URL of a random running server. */
  target: Target;
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

type Options = { variants: string[]; random: Random };

/**
 * Runs `work` with servers on a separate PostgreSQL server, which the harness may crash. Ignores
 * TEST_POSTGRES_URL.
 */
export async function onSeparatePostgres<T>(
  size: number,
  options: Options,
  work: (given: { fleet: Fleet; url: string; crash(): Promise<void> }) => Promise<T>,
): Promise<T> {
  try {
    await findProgram();
  } catch (error) {
    throw new Skipped(String(error));
  }
  const node = await newPrimary();
  const { url } = node;
  const fleet = createFleet(size, { ...options, databaseUrl: url });
  try {
    await fleet.start();
    return await work({
      fleet,
      url,
      async crash() {
        await node.stopNow();
        await node.start();
      },
    });
  } finally {
    await fleet.remove();
    await node.remove();
  }
}

/** Terminates all other connections to the database, including those with an open transaction. */
export async function terminateConnections(url: string): Promise<void> {
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}
