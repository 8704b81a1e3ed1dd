import { afterAll, expect, test } from 'bun:test';
import { type RunningServer, startServer } from '../../server/main.ts';
import { newDatabase } from '../support/postgres.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

/* Servers on the same PostgreSQL database share each project's rate limit. */

const requests = 25;
const key = 'a-key-for-several-servers';

const database = await newDatabase();
const servers = [await start(database.url, requests), await start(database.url, requests)];
afterAll(async () => {
  for (const server of servers) await server.stop();
  await database.drop();
});

function start(databaseUrl: string, limit: number, seconds = 3_600): Promise<RunningServer> {
  const env = {
    MEMORY_EMBEDDINGS: 'off',
    LOG_LEVEL: 'silent',
    MEMORY_API_KEY: key,
    MEMORY_RATE_LIMIT: `${limit}/${seconds}`,
  };
  return startServer({ env, port: 0, databaseUrl });
}

/** Sends a request that uses the database only for the rate limit. */
function ask(server: RunningServer | undefined): Promise<Response> {
  return fetch(`${server?.url}/v1/nope`, { headers: { authorization: `Bearer ${key}` } });
}

function leftOf({ headers }: Response): number {
  return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

test('all servers together allow the announced number of requests', async () => {
  const alone = await Promise.all(Array.from({ length: 10 }, () => ask(servers[0])));
  expect(alone.map(({ status }) => status)).toEqual(Array(10).fill(404));
  const rest = await Promise.all(
    Array.from({ length: requests * 2 }, (_, index) => ask(servers[index % 2])),
  );
  const granted = rest.filter(({ status }) => status === 404);
  expect(granted).toHaveLength(requests - 10);
  const refused = rest.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(requests * 2 - granted.length);
  for (const answer of refused) {
    expect(leftOf(answer)).toBe(0);
    expect(Number(answer.headers.get('retry-after'))).toBeWithin(3_500, 3_601);
  }
});

test('a server counts requests locally while the database is unreachable', async () => {
  await using own = await newDatabase();
  const proxy = proxyTo(own.url);
  const server = await start(proxy.url, 8, 2);
  expect(leftOf(await ask(server))).toBe(7);
  proxy.refuse();
  const answers: Response[] = [];
  await until(async () => {
    answers.push(await ask(server));
    return answers.at(-1)?.status === 429;
  });
  expect(answers.length).toBeWithin(2, 2 * 8 + 1);
  await Bun.sleep(Number(answers.at(-1)?.headers.get('retry-after')) * 1_000);
  expect((await ask(server)).status).toBe(404);
  proxy.heal();
  await server.stop();
  proxy.stop();
});
