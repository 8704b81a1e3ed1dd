import { afterAll, expect, test } from 'bun:test';
import { limits } from '../../sdk/contract/limits.ts';
import { openAdmin } from '../../server/admin.ts';
import { readMetrics } from '../support/metrics.ts';
import { rowsOf } from '../support/rows.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { sendKeyed } from '../support/writes.ts';

const everyMs = 30_000;

/** Starts a server whose cleanup runs every few milliseconds. */
async function startWithFastCleanup(): Promise<TestServer> {
  const { setInterval: original } = globalThis;
  const fast = (act: () => void, ms: number) => original(act, ms === everyMs ? 20 : ms);
  globalThis.setInterval = Object.assign(fast, original);
  try {
    return await startTestServer();
  } finally {
    globalThis.setInterval = original;
  }
}

const server = await startWithFastCleanup();
afterAll(() => server.stop());

async function lastUse({ databaseUrl }: TestServer): Promise<number | null> {
  const admin = await openAdmin(databaseUrl);
  const [key] = await admin.listKeys();
  await admin.close();
  return key?.lastUsedAt ?? null;
}

async function storedMemories(): Promise<number> {
  return (await rowsOf(server.databaseUrl, 'SELECT id FROM memories')).length;
}

test('a running server deletes and counts memories soon after they have expired', async () => {
  const counted = async () => (await readMetrics(server)).get('memory_expired_memories_total') ?? 0;
  const before = await counted();
  const expiring = 50;
  const expiresAt = new Date(Date.now() + 2_000).toISOString();
  const short = { userId: 'u', content: 'short lived', expiresAt };
  await Promise.all(Array.from({ length: expiring }, () => server.client.save(short)));
  await server.client.save({ userId: 'u', content: 'kept' });
  expect(await storedMemories()).toBe(expiring + 1);
  await until(async () => (await storedMemories()) === 1, { what: 'the deletion' });
  await until(async () => (await counted()) >= before + expiring, { what: 'the count' });
  // Servers of other files in this process may have added a few to the count.
  expect(await counted()).toBeLessThan(before + 2 * expiring);
});

test('a running server stores the last use of a key again and again', async () => {
  const begun = Date.now();
  await server.client.list({ userId: 'u' });
  await until(async () => ((await lastUse(server)) ?? 0) >= begun, { what: 'the last use' });
});

test('the last use of a key is stored when the server stops', async () => {
  const own = await startTestServer();
  const begun = Date.now();
  await own.client.list({ userId: 'u' });
  expect(await lastUse(own)).toBeNull();
  await own.restart();
  expect(await lastUse(own)).toBeGreaterThanOrEqual(begun);
  await own.stop();
});

test('no idempotency key is deleted early if the wall clock jumps ahead', async () => {
  const [wall, monotonic] = [Date.now, performance.now];
  let [wallAheadMs, aheadMs] = [0, 0];
  let own: TestServer | undefined;
  // Replaced before the server starts, because it stores references to these functions.
  Date.now = () => wall() + wallAheadMs;
  performance.now = () => monotonic.call(performance) + aheadMs;
  try {
    own = await startWithFastCleanup();
    const request = { method: 'POST', path: '/v1/memories', body: { userId: 'u', content: 'x' } };
    const first = await sendKeyed(own, request, 'kept');
    wallAheadMs = 10 * limits.idempotencyKeptMs;
    // More than half of the retention time: counted in two cleanups, it would exceed that time.
    aheadMs = 0.6 * limits.idempotencyKeptMs;
    await Bun.sleep(200);
    [wallAheadMs, aheadMs] = [0, 0];
    expect((await sendKeyed(own, request, 'kept')).text).toBe(first.text);
  } finally {
    [wallAheadMs, aheadMs] = [0, 0];
    Date.now = wall;
    performance.now = monotonic;
    await own?.stop();
  }
});
