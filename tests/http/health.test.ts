import { afterAll, describe, expect, test } from 'bun:test';
import { version } from '../../package.json';
import type { Health } from '../../sdk/contract/status.ts';
import { backend } from '../support/backend.ts';
import { ask, bodyOf, ingest, readAnswer } from '../support/http.ts';
import { readMetrics } from '../support/metrics.ts';
import { newDatabase, openTransaction, query } from '../support/postgres.ts';
import { leaseRecord } from '../support/queue.ts';
import { startTestServer, withServer } from '../support/server.ts';
import { exchange } from '../support/socket.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const server = await withServer();

test.each(['', 'Bearer mk_wrong_key'])('GET /health returns 200 with the key "%s"', async (key) => {
  const answer = await ask(server, 'GET', '/health', { headers: { authorization: key } });
  const queue = { pending: 0, oldestPendingSeconds: null };
  const embeddings = { model: null, pending: 0 };
  const state = { status: 'ok' as const, version, storage: backend, ...queue, embeddings };
  expect(bodyOf<Health>(answer, 200)).toEqual(state);
  expect(answer.headers.get('www-authenticate')).toBeNull();
});

test('returns 503 while records are waiting and the queue has made no progress for a minute', async () => {
  await using own = await startTestServer();
  const clock = performance.now;
  let aheadMs = 0;
  performance.now = () => clock.call(performance) + aheadMs;
  /** Advances the clock by a minute and returns the health. */
  const aMinuteLater = async () => {
    aheadMs += 61_000;
    const response = await fetch(`${own.url}/health`);
    const state = (await response.json()) as Health;
    expect(response.status).toBe(state.status === 'ok' ? 200 : 503);
    return state;
  };
  try {
    // In the first minute, the tasks thread may still report that it has started.
    for (let times = 0; times < 2; times += 1) {
      expect(await aMinuteLater()).toMatchObject({ status: 'ok', pending: 0 });
    }
    await leaseRecord(own);
    const stuck = await until(aMinuteLater, { fits: ({ status }) => status === 'failing' });
    expect(stuck).toMatchObject({ message: 'the task queue is not making progress', pending: 1 });
    // The clock of the age is another one.
    expect(stuck.oldestPendingSeconds).toBeWithin(0, 60);
    // The tasks thread reports its progress at most once per second.
    const moving = await until(async () => {
      await ingest(own, '/v1/ingest/document', { userId: 'u', data: { text: 'more work' } });
      const state = (await (await fetch(`${own.url}/health`)).json()) as Health;
      return state.status === 'ok' ? state : null;
    });
    expect(moving.pending).toBeGreaterThan(0);
  } finally {
    performance.now = clock;
  }
});

describe('with PostgreSQL behind a proxy', async () => {
  const { url: databaseUrl, drop } = await newDatabase();
  const proxy = proxyTo(databaseUrl);
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const env = { MEMORY_API_KEY: 'a-key-for-tests-1234', LOG_LEVEL: 'info' };
  const own = await startTestServer(env, [], { databaseUrl: proxy.url, log });
  const state = async () => (await fetch(`${own.url}/health`)).json() as Promise<Health>;
  afterAll(async () => {
    proxy.heal();
    await own.stop();
    proxy.stop();
    await drop();
  });

  const counts = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE relation = 'tasks'::regclass AND NOT granted AND application_name LIKE 'memory reader%'`;

  test('while the records are counted for long, the last count is returned', async () => {
    expect(await state()).toMatchObject({ status: 'ok', storage: 'postgres' });
    await query(
      databaseUrl,
      `INSERT INTO tasks (project_id, user_id, memory_id, kind, state, accepted_at, ordinal, run_at,
         updated_at, lease_token)
       VALUES (1, 'u', 'mem_later', 'index', 'waiting', 0, 0, 9000000000000000, 0, 0)`,
    );
    await until(async () => (await state()).pending === 1, { what: 'the first count' });
    const unlock = await openTransaction(databaseUrl, 'LOCK TABLE tasks');
    const isCounting = async () => {
      expect(await state()).toMatchObject({ status: 'ok', pending: 1 });
      return (await query(databaseUrl, counts)).length > 0;
    };
    const msOfNext = async () => {
      const asked = performance.now();
      await state();
      return performance.now() - asked;
    };
    try {
      await until(isCounting, { what: 'a count that waits for the lock' });
      // Only the first request waits for a second.
      expect(Math.min(await msOfNext(), await msOfNext())).toBeLessThan(800);
    } finally {
      await unlock();
      await query(databaseUrl, 'DELETE FROM tasks');
    }
  });

  test('a database that cannot be reached is reported as 503, and logged once', async () => {
    proxy.refuse();
    const fits = (found: Health) => found.message?.includes('cannot be reached') === true;
    const { message = '' } = await until(state, { fits });
    expect(await state()).toMatchObject({ status: 'failing', message });
    expect((await readMetrics(own)).values.get('memory_healthy')).toBe(0);
    const logged = lines.filter((line) => JSON.parse(line).message === message);
    expect(logged).toHaveLength(1);
  });
});

test('GET /health/live returns 200 without a key', async () => {
  const answer = await readAnswer(await fetch(`${server.url}/health/live`));
  expect(bodyOf<object>(answer, 200)).toEqual({ status: 'ok' });
});

test('a probe over HTTP/1.0 without a Host header returns 200', async () => {
  for (const target of ['/health', 'http://memory.example/health']) {
    const answer = await exchange(server, `GET ${target} HTTP/1.0\r\n\r\n`);
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
  }
});
