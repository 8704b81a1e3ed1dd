import { expect, test } from 'bun:test';
import { watchStarvation } from '../../server/threads/starvation.ts';

const isLinux = process.platform === 'linux';

test.if(isLinux)('a thread lacks a core only if it has had little CPU time lately', async () => {
  const isStarved = watchStarvation(String(process.pid));
  await Bun.sleep(1_000);
  // This thread reads its own state, so it is ready to run, and it has been asleep until now.
  expect(isStarved()).toBe(true);
  const end = performance.now() + 150;
  while (performance.now() < end);
  expect(isStarved()).toBe(false);
});

test('a thread that does not exist is not starved', () => {
  expect(watchStarvation('0')()).toBe(false);
  expect(watchStarvation('')()).toBe(false);
});
