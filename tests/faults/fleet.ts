import { query } from '../support/postgres.ts';
import { newPrimary, type PostgresNode } from '../support/postgres-pair.ts';
import type { Random } from '../support/random.ts';
import { Skipped } from './harness.ts';
import { createTarget, restart } from './target.ts';

export type Fleet = ReturnType<typeof createFleet>;

type Options = { variants: string[]; random: Random };

/** Creates several server processes on one database. Clients use `target` like a single server. */
export function createFleet(
  size: number,
  { random, ...options }: Options & { databaseUrl: string },
) {
  const targets = Array.from({ length: size }, () => createTarget(options));
  const logs: string[] = [];
  const pickRunning = () => {
    const running = targets.filter((target) => target.running() && target.url !== '');
    return random.pick(running.length > 0 ? running : targets);
  };
  return {
    target: {
      ...random.pick(targets),
      get url() {
        return pickRunning().url;
      },
      whenUp: () => Promise.any(targets.map((target) => target.whenUp())),
    },
    async start() {
      // Starting all servers at once makes them create the tables concurrently.
      await Promise.all(targets.map((target) => target.start()));
    },
    /** Kills a server and starts it again. */
    async restartOne() {
      const target = random.pick(targets);
      logs.push(target.log());
      await restart(target);
    },
    /** Suspends a server with SIGSTOP. */
    async pauseOne(forMs: number) {
      const target = random.pick(targets);
      target.signal('SIGSTOP');
      await Bun.sleep(forMs);
      target.signal('SIGCONT');
    },
    /** Returns the sum of the numbers that `pattern` captures in what the servers have logged. */
    sumOf(pattern: RegExp): number {
      const texts = [...logs, ...targets.map((target) => target.log())];
      const found = texts.flatMap((text) => [...text.matchAll(pattern)]);
      return found.reduce((sum, [, number]) => sum + Number(number), 0);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(targets.map((target) => target[Symbol.asyncDispose]()));
    },
  };
}

/**
 * Runs `work` with servers on a separate PostgreSQL server. Each call of `disturb` causes a random
 * fault and counts it in `faults`.
 */
export async function onSeparatePostgres<T>(
  size: number,
  options: Options,
  work: (given: {
    fleet: Fleet;
    url: string;
    disturb(pauseMs: number): Promise<void>;
    faults: Record<string, number>;
  }) => Promise<T>,
): Promise<T> {
  await using node = await startPrimary();
  const { url } = node;
  await using fleet = createFleet(size, { ...options, databaseUrl: url });
  const faults = { kills: 0, pauses: 0, connectionTerminations: 0, databaseCrashes: 0 };
  async function disturb(pauseMs: number): Promise<void> {
    const share = options.random.next();
    if (share < 0.3) {
      faults.kills += 1;
      await fleet.restartOne();
    } else if (share < 0.65) {
      faults.pauses += 1;
      await fleet.pauseOne(pauseMs);
    } else if (share < 0.88) {
      faults.connectionTerminations += 1;
      await terminateConnections(url);
    } else {
      faults.databaseCrashes += 1;
      await node.stopNow();
      await node.start();
    }
  }
  await fleet.start();
  return await work({ fleet, url, disturb, faults });
}

/** Starts a PostgreSQL server that the harness may crash. */
export function startPrimary(): Promise<PostgresNode> {
  return newPrimary().catch((error) => {
    throw new Skipped(String(error));
  });
}

/** Terminates all other connections to the database, including those with an open transaction. */
async function terminateConnections(url: string): Promise<void> {
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}
