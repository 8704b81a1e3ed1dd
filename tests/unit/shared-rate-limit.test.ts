import { expect, test } from 'bun:test';
import { createSharedRateLimit } from '../../server/http/shared-rate-limit.ts';
import type { QuotaTaken } from '../../server/storage/project-storage.ts';

test('quota that is left in a window is not added to the next window', async () => {
  // The second take, in the background, is the first of a new window.
  const answers: QuotaTaken[] = [
    { granted: 3, untaken: 253, endsAt: 60_000, endsInMs: 60_000 },
    { granted: 2, untaken: 254, endsAt: 120_000, endsInMs: 60_000 },
    { granted: 2, untaken: 252, endsAt: 120_000, endsInMs: 60_000 },
  ];
  const take = async () => answers.shift() ?? Promise.reject(new Error('no more quota'));
  const { count } = createSharedRateLimit({ requests: 256, seconds: 60 }, () => 0, take);
  expect((await count(1)).left).toBe(255);
  expect((await count(1)).left).toBe(254);
  // The second take ends in the background.
  await new Promise(setImmediate);
  expect((await count(1)).left).toBe(255);
});
