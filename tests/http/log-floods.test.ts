import { afterAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../support/server.ts';

/*
 * Requests without a valid key cannot fill the disk with log lines: they are sampled. Health checks
 * are logged only at the level debug.
 */

const origin = 'https://app.example';
const lines: Record<string, unknown>[] = [];

function start(LOG_LEVEL: string): Promise<TestServer> {
  const log = (line: string) => void lines.push(JSON.parse(line));
  return startTestServer({ MEMORY_CORS_ORIGINS: origin, LOG_LEVEL }, [], { log });
}

// The clock stands still during a flood.
const clock = performance.now;
let nowMs = clock.call(performance);
performance.now = () => nowMs;
const server = await start('debug');
afterAll(async () => {
  performance.now = clock;
  await server.stop();
});

/** Sends `count` requests and returns the status and suppressed count of each log line. */
async function flood(count: number, path: string, init: RequestInit, { url } = server) {
  lines.length = 0;
  for (let sent = 0; sent < count; sent += 1) {
    const response = await fetch(url + path, init);
    await response.arrayBuffer();
  }
  const written = lines.filter(({ message }) => message === 'request');
  return written.map(({ status, suppressed }) => ({ status, suppressed }));
}

const preflight = { origin, 'access-control-request-method': 'POST' };
const wrong = { authorization: 'Bearer wrong' };

test.each<[string, string, RequestInit, number[]]>([
  ['requests without a key', '/v1/nothing', {}, [401]],
  ['requests with a wrong key', '/v1/nothing', { headers: wrong }, [401, 429]],
  ['requests to unknown paths', '/nothing', {}, [404]],
  ['requests for the OpenAPI document', '/openapi.json', {}, [200]],
  ['preflight requests', '/v1/memories', { method: 'OPTIONS', headers: preflight }, [204]],
  ['health checks', '/health/live', {}, [200]],
])('a flood of %s is sampled', async (_, path, init, statuses) => {
  // An address may send 60 wrong keys a minute.
  const requests = 130;
  // The flood before is forgotten, and the lines that it suppressed are counted.
  nowMs += 61_000;
  const [before, ...first] = await flood(requests, path, init);
  const shown = [before, ...first].map((line) => line?.status);
  expect(shown).toEqual(statuses.flatMap((status) => Array(20).fill(status)));
  expect(first).toEqual(first.map(({ status }) => ({ status, suppressed: undefined })));
  nowMs += 500;
  const suppressed = (statuses.length > 1 ? requests - 60 : requests) - 20;
  const last = await flood(2, path, init);
  expect(last).toEqual([{ status: statuses.at(-1), suppressed }]);
});

test('a flood of requests with a key is not sampled', async () => {
  const headers = { authorization: `Bearer ${server.key}` };
  const found = await flood(60, '/v1/nothing', { headers });
  expect(found).toEqual(Array(60).fill({ status: 404 }));
});

test('a flood of health checks is not logged at the default level', async () => {
  await using own = await start('info');
  expect(await flood(60, '/health', {}, own)).toEqual([]);
  expect(await flood(1, '/openapi.json', {}, own)).toEqual([
    { status: 200, suppressed: undefined },
  ]);
});
