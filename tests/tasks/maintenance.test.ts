import { afterEach, expect, jest, test } from 'bun:test';
import { createLogger, type LogEntry } from '../../server/log.ts';
import { startMaintenance } from '../../server/tasks/maintenance.ts';
import { imported, newProject } from '../storage/fixtures.ts';
import { leapsClock } from '../storage/leaping-clock.ts';
import { openInFolder } from '../storage/sqlite.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/until.ts';

afterEach(() => {
  jest.useRealTimers();
});

type Options = Parameters<typeof startMaintenance>[0];

/** Starts maintenance with timers that do not wait. */
function start(storage: Options['storage'], more: Partial<Options> = {}) {
  jest.useFakeTimers();
  return startMaintenance({
    storage,
    authenticator: { flushKeyUsage: async () => {} },
    now: Date.now,
    clock: () => performance.now(),
    log: createLogger('silent', () => {}),
    ...more,
  });
}

/** Starts maintenance, and lets it run for this long. */
function startFor(ms: number, ...given: Parameters<typeof start>) {
  const stop = start(...given);
  jest.advanceTimersByTime(ms);
  jest.useRealTimers();
  return stop;
}

test('a stop waits for one run, even if that run has taken longer than the interval', async () => {
  await using opened = await openInFolder();
  let runs = 0;
  const resumed = Promise.withResolvers<void>();
  const flushKeyUsage = () => {
    runs += 1;
    return resumed.promise;
  };
  const stop = startFor(150_000, opened.storage, { authenticator: { flushKeyUsage } });
  const stopped = stop();
  resumed.resolve();
  await stopped;
  expect(runs).toBe(1);
});

test('a stop does not wait for the rest of a long cleanup', async () => {
  await using opened = await openInFolder();
  let runs = 0;
  const maintain = async () => {
    runs += 1;
    await new Promise(setImmediate);
    return { expiredMemories: 0, expiredKeys: 0, more: true };
  };
  const stop = startFor(30_000, { ...opened.storage, maintain });
  await until(() => runs > 1, { what: 'the cleanup' });
  await stop();
});

test('many search indexes that are to be stored do not keep expired memories from their end', async () => {
  await using opened = await openInFolder();
  let runs = 0;
  let clockMs = 0;
  const storage = {
    ...opened.storage,
    async maintain() {
      runs += 1;
      return { expiredMemories: 0, expiredKeys: 0, more: false };
    },
    nextUnstored: async () => ({ projectId: 1, userId: 'another' }),
    async storeSnapshotOf() {},
  };
  const stop = start(storage, { clock: () => clockMs });
  for (; clockMs < 300_000; clockMs += 30_000) {
    jest.advanceTimersByTime(30_000);
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  }
  await stop();
  expect(runs).toBeGreaterThan(2);
});

test('a user whose search index takes too long to build does not keep others from theirs', async () => {
  await using opened = await openInFolder({ preload: ['leaping-clock.ts'] });
  const project = await newProject(opened);
  for (const [userId, content] of Object.entries({ ada: leapsClock, ben: 'a lantern' })) {
    await project.import(Array.from({ length: 200 }, () => imported({ userId, content })));
  }
  const logged: LogEntry[] = [];
  const log = createLogger('warn', (entry) => logged.push(entry));
  const stop = startFor(30_000, opened.storage, { log });
  const stored = () => rowsOf(opened.url, 'SELECT user_id FROM snapshots');
  await until(async () => (await stored()).length > 0, { what: 'the snapshot' });
  await stop();
  expect(await stored()).toEqual([{ user_id: 'ben' }]);
  expect(logged).toMatchObject([{ fields: { error: { code: 'unavailable' } } }]);
});
