import { afterEach, expect, jest, test } from 'bun:test';
import { createLogger } from '../../server/log.ts';
import { startMaintenance } from '../../server/tasks/maintenance.ts';
import { openInFolder } from '../storage/sqlite.ts';
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
