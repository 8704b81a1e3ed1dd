import { expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { createTrigger, newWholeDatabase, postgresUrl, query } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { until } from '../support/until.ts';
import { keyed, memory, newProject } from './fixtures.ts';

const rounds = 6;
const keysPerRound = 10;
const sendsPerKey = 4;
/** There are fewer users than keys, so writes with different keys contend for the same users. */
const users = 5;

/**
 * Makes a transaction pause before each key that it locks, so that transactions overlap. PostgreSQL
 * then counts a deadlock before the service's own limit for a lock.
 */
async function slowLocks(url: string, name: string): Promise<void> {
  const pause = 'PERFORM pg_sleep(0.005);';
  await createTrigger(url, 'BEFORE INSERT ON idempotency_keys', pause);
  await createTrigger(url, 'BEFORE INSERT OR UPDATE ON users', pause);
  await query(url, `ALTER DATABASE "${name}" SET deadlock_timeout = '50ms'`);
}

test('groups of two servers with the same keys and users have one effect each and no deadlock', async () => {
  const { url, name, drop } = await newWholeDatabase();
  await (await openStorage(url)).close();
  await slowLocks(url, name);
  const servers = [await openStorage(url), await openStorage(url)];
  const projects = await Promise.all(servers.map((storage) => newProject({ storage }, 'shared')));
  const random = createRandom(1);
  for (let round = 0; round < rounds; round += 1) {
    const sends = Array.from({ length: keysPerRound * sendsPerKey }, (_, at) => {
      const key = `${round} ${at % keysPerRound}`;
      return { key, userId: `user ${(at % keysPerRound) % users}`, at, order: random.next() };
    });
    const results = await Promise.all(
      sends
        .toSorted((a, b) => a.order - b.order)
        .map(async ({ key, userId, at }) => {
          const project = projects[Math.floor(at / keysPerRound) % 2];
          const idempotency = keyed(key);
          return { key, result: await project?.save(memory({ userId }), { idempotency }) };
        }),
    );
    for (const own of Map.groupBy(results, ({ key }) => key).values()) {
      expect(own.filter(({ result }) => result?.replayed === false)).toHaveLength(1);
      expect(new Set(own.map(({ result }) => result?.response.body)).size).toBe(1);
    }
  }
  for (const server of servers) await server.close();
  const memories = await query(url, 'SELECT count(*)::int4 AS count FROM memories');
  expect(memories).toEqual([{ count: rounds * keysPerRound }]);
  expect(await countDeadlocks(name)).toBe(0);
  await drop();
});

/** Waits for the end of all sessions, because a session reports its statistics when it ends. */
async function countDeadlocks(name: string): Promise<unknown> {
  const base = await postgresUrl();
  const isIdle = async () =>
    (await query(base, 'SELECT 1 FROM pg_stat_activity WHERE datname = $1', [name])).length === 0;
  await until(isIdle, { what: 'the end of all sessions' });
  const text = 'SELECT deadlocks::int4 FROM pg_stat_database WHERE datname = $1';
  return (await query(base, text, [name]))[0]?.deadlocks;
}
