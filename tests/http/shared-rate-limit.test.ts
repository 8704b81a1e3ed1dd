import { afterAll, expect, test } from 'bun:test';
import { type Answer, ask } from '../support/http.ts';
import { newDatabase } from '../support/postgres.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const requests = 25;
const key = 'a-key-for-several-servers';

const database = await newDatabase();
const one = await start(database.url, requests);
const two = await start(database.url, requests);
afterAll(async () => {
  await one.stop();
  await two.stop();
  await database.drop();
});

function start(databaseUrl: string, limit: number, seconds = 3_600): Promise<TestServer> {
  const env = { MEMORY_API_KEY: key, MEMORY_RATE_LIMIT: `${limit}/${seconds}` };
  return startTestServer(env, [], { databaseUrl });
}

/** Sends a request that uses the database only for the rate limit. */
const send = (server: TestServer) => ask(server, 'GET', '/v1/nope');

function leftOf({ headers }: Answer): number {
  return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

test('all servers together allow the announced number of requests', async () => {
  const alone = await Promise.all(Array.from({ length: 10 }, () => send(one)));
  expect(alone.map(({ status }) => status)).toEqual(Array(10).fill(404));
  const both = Array.from({ length: requests }, () => [send(one), send(two)]);
  const rest = await Promise.all(both.flat());
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
  expect(leftOf(await send(server))).toBe(7);
  proxy.refuse();
  const answers: Answer[] = [];
  await until(async () => {
    answers.push(await send(server));
    return answers.at(-1)?.status === 429;
  });
  expect(answers.length).toBeWithin(2, 2 * 8 + 1);
  await Bun.sleep(Number(answers.at(-1)?.headers.get('retry-after')) * 1_000);
  expect((await send(server)).status).toBe(404);
  proxy.heal();
  await server.stop();
  proxy.stop();
});
