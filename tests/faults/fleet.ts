import { newWholeDatabase, postgresUrl, query } from '../support/postgres.ts';
import { createRandom, type Random } from '../support/random.ts';
import type { Finding, RunOptions } from './harness.ts';
import { createTarget, restart, type Target } from './target.ts';

/** Several server processes on one database, which clients see as one. */
export type Fleet = {
  /** Its address is that of any server that runs, another one each time. */
  target: Target;
  /** Of the servers, in order. */
  readonly urls: readonly string[];
  start(): Promise<void>;
  /** Kills a server and starts it again. */
  restart(index: number): Promise<void>;
  /** Stops a server for a while; it hears of nothing meanwhile. */
  stall(index: number, forMs: number): Promise<void>;
  /** The sum of what the servers wrote to standard error in this form, over all starts. */
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
      // All at once: they make the tables together.
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

/** What a harness works with: servers that run, the URL and the name of their database. */
export type OnPostgres = { fleet: Fleet; random: Random; url: string; name: string };

/** Runs a harness with servers on a new database of PostgreSQL, or says why it cannot. */
export async function onPostgres(
  size: number,
  { seed, ...options }: Pick<RunOptions, 'seed'> & FleetOptions,
  run: (given: OnPostgres) => Promise<Finding>,
): Promise<Finding> {
  try {
    await postgresUrl();
  } catch (error) {
    return { figures: {}, violations: [], skipped: String(error) };
  }
  const random = createRandom(seed);
  const { url, name, drop } = await newWholeDatabase();
  const fleet = createFleet(size, { ...options, databaseUrl: url, random });
  try {
    await fleet.start();
    return await run({ fleet, random, url, name });
  } finally {
    await fleet.remove();
    await drop();
  }
}

/** Of the servers of this run, whatever they do. */
export async function terminateConnections(name: string): Promise<void> {
  await query(
    await postgresUrl(),
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
    [name],
  );
}
