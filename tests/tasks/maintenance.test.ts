import { afterEach, expect, jest, test } from 'bun:test';
import { createLogger } from '../../server/log.ts';
import { startMaintenance } from '../../server/tasks/maintenance.ts';
import { openInFolder } from '../storage/sqlite.ts';

afterEach(() => {
  jest.useRealTimers();
});

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
    now: Date.now,
    clock: () => performance.now(),
    log: createLogger('silent', () => {}),
  });
  jest.advanceTimersByTime(150_000);
  jest.useRealTimers();
  const stopped = stop();
  resumed.resolve();
  await stopped;
  expect(runs).toBe(1);
});
