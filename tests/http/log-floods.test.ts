import { afterAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningServer, startServer } from '../../server/main.ts';

/*
 * Requests without a valid key cannot fill the disk with log lines: they are sampled. Health checks
 * are logged only at the level debug.
 */

const apiKey = 'log-test-key-0123456789abcdef';
const origin = 'https://app.example';
const folder = mkdtempSync(join(tmpdir(), 'memory-log-floods-'));
const lines: Record<string, unknown>[] = [];
let server: RunningServer | undefined;

async function restart(LOG_LEVEL: string): Promise<void> {
  await server?.stop();
  server = await startServer({
    env: {
      MEMORY_API_KEY: apiKey,
      MEMORY_CORS_ORIGINS: origin,
      LOG_LEVEL,
      MEMORY_EMBEDDINGS: 'off',
    },
    databaseUrl: `sqlite:${join(folder, 'memory.db')}`,
    port: 0,
    log: (line) => lines.push(JSON.parse(line)),
  });
}

// Each test needs a new server, because the sampler remembers the previous flood.
beforeEach(() => restart('debug'));
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends `count` requests and returns the status and suppressed count of each log line. */
async function flood(count: number, path: string, init: RequestInit) {
  lines.length = 0;
  for (let sent = 0; sent < count; sent += 1) {
    const response = await fetch(`${server?.url}${path}`, init);
    await response.arrayBuffer();
  }
  const written = () => lines.filter(({ message }) => message === 'request');
  return written().map(({ status, suppressed = 0 }) => ({ status, suppressed }));
}

const preflight = { origin, 'access-control-request-method': 'POST' };
const known = { authorization: `Bearer ${apiKey}` };
const wrong = { authorization: 'Bearer wrong' };

test.each<[string, string, RequestInit, number[]]>([
  ['requests without a key', '/v1/nothing', {}, [401]],
  ['requests with a wrong key', '/v1/nothing', { headers: wrong }, [401, 429]],
  ['requests to unknown paths', '/nothing', {}, [404]],
  ['requests for the OpenAPI document', '/openapi.json', {}, [200]],
  ['preflight requests', '/v1/memories', { method: 'OPTIONS', headers: preflight }, [204]],
  ['health checks', '/health/live', {}, [200]],
])('a flood of %s is sampled', async (_, path, init, statuses) => {
  const requests = 500;
  const first = await flood(requests, path, init);
  // The sampler logs 20 lines of each status immediately, and then two per second.
  expect(first.length).toBeWithin(15, 80);
  expect(new Set(first.map(({ status }) => status))).toEqual(new Set(statuses));
  await Bun.sleep(600);
  const [last] = await flood(1, path, init);
  const counted = [...first, last].reduce((sum, line) => sum + Number(line?.suppressed), 0);
  expect(last?.status).toBe(statuses.at(-1) ?? 0);
  expect(counted + first.length).toBeGreaterThan(requests - 60);
});

test('a flood of requests with a key is not sampled', async () => {
  const found = await flood(300, '/v1/nothing', { headers: known });
  expect(found).toEqual(Array(300).fill({ status: 404, suppressed: 0 }));
});

test('a flood of health checks is not logged at the default level', async () => {
  await restart('info');
  expect(await flood(100, '/health', {})).toEqual([]);
  expect(await flood(1, '/openapi.json', {})).toEqual([{ status: 200, suppressed: 0 }]);
});
