import { expect, test } from 'bun:test';
import { createNotifier } from '../../server/tasks/notifier.ts';

const longMs = 20_000;

async function elapsedMs(wait: Promise<void>): Promise<number> {
  const begun = performance.now();
  await wait;
  return performance.now() - begun;
}

test('a wait ends after its timeout', async () => {
  expect(await elapsedMs(createNotifier().wait(30))).toBeGreaterThan(25);
});

test('a notification ends the current wait', async () => {
  const notifier = createNotifier();
  setTimeout(notifier.notify, 10);
  expect(await elapsedMs(notifier.wait(longMs))).toBeLessThan(longMs);
});

test('a notification without a wait immediately ends the next wait, and only that one', async () => {
  const notifier = createNotifier();
  notifier.notify();
  notifier.notify();
  expect(await elapsedMs(notifier.wait(longMs))).toBeLessThan(longMs);
  expect(await elapsedMs(notifier.wait(30))).toBeGreaterThan(25);
});
