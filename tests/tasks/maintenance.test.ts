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

/** The parts of maintenance that these tests do not observe. */
const common = {
  now: Date.now,
  clock: () => performance.now(),
  log: createLogger('silent', () => {}),
};

test('a stop waits for one run, even if that run has taken longer than the interval', async () => {
  await using opened = await openInFolder();
  jest.useFakeTimers();
  let runs = 0;
  const resumed = Promise.withResolvers<void>();
  const stop = startMaintenance({
    storage: opened.storage,
    authenticator: {
      flushKeyUsage() {
        runs += 1;
        return resumed.promise;
      },
    },
    ...common,
  });
  jest.advanceTimersByTime(150_000);
  jest.useRealTimers();
  const stopped = stop();
  resumed.resolve();
  await stopped;
  expect(runs).toBe(1);
});

test('a stop does not wait for the rest of a long cleanup', async () => {
  await using opened = await openInFolder();
  jest.useFakeTimers();
  let runs = 0;
  const maintain = async () => {
    runs += 1;
    await new Promise(setImmediate);
    return { expiredMemories: 0, expiredKeys: 0, more: true };
  };
  const stop = startMaintenance({
    storage: { ...opened.storage, maintain },
    authenticator: { flushKeyUsage: async () => {} },
    ...common,
  });
  jest.advanceTimersByTime(30_000);
  jest.useRealTimers();
  await until(() => runs > 1, { what: 'the cleanup' });
  await stop();
});

test('a user whose search index takes too long to build does not keep others from theirs', async () => {
  await using opened = await openInFolder({ preload: ['leaping-clock.ts'] });
  const project = await newProject(opened);
  for (const [userId, content] of Object.entries({ ada: leapsClock, ben: 'a lantern' })) {
    await project.import(Array.from({ length: 200 }, () => imported({ userId, content })));
  }
  const logged: LogEntry[] = [];
  jest.useFakeTimers();
  const stop = startMaintenance({
    storage: opened.storage,
    authenticator: { flushKeyUsage: async () => {} },
    ...common,
    log: createLogger('warn', (entry) => logged.push(entry)),
  });
  jest.advanceTimersByTime(30_000);
  jest.useRealTimers();
  const stored = () => rowsOf(opened.url, 'SELECT user_id FROM snapshots');
  await until(async () => (await stored()).length > 0, { what: 'the snapshot' });
  await stop();
  expect(await stored()).toEqual([{ user_id: 'ben' }]);
  expect(logged).toMatchObject([{ fields: { error: { code: 'unavailable' } } }]);
});
