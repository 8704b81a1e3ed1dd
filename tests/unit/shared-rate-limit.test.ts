import { expect, test } from 'bun:test';
import { createSharedRateLimit } from '../../server/http/shared-rate-limit.ts';
import type { QuotaGrant } from '../../server/storage/types/project.ts';

test('quota that is left in a window is not added to the next window', async () => {
  // The second reservation, in the background, is the first of a new window.
  const answers: QuotaGrant[] = [
    { granted: 3, available: 253, endsAt: 60_000, endsInMs: 60_000 },
    { granted: 2, available: 254, endsAt: 120_000, endsInMs: 60_000 },
    { granted: 2, available: 252, endsAt: 120_000, endsInMs: 60_000 },
  ];
  const reserve = async () => answers.shift() ?? Promise.reject(new Error('no more quota'));
  const count = createSharedRateLimit({ requests: 256, seconds: 60 }, () => 0, reserve);
  expect((await count(1)).left).toBe(255);
  expect((await count(1)).left).toBe(254);
  // The second reservation ends in the background.
  await new Promise(setImmediate);
  expect((await count(1)).left).toBe(255);
});

test('quota that is left in a window is not added to the next one, if the storage fails', async () => {
  let now = 0;
  const failure = Promise.withResolvers<QuotaGrant>();
  const first = { granted: 3, available: 253, endsAt: 60_000, endsInMs: 60_000 };
  const answers = [Promise.resolve(first), failure.promise];
  const reserve = () => answers.shift() ?? Promise.reject(new Error('no more quota'));
  const count = createSharedRateLimit({ requests: 256, seconds: 60 }, () => now, reserve);
  await count(1);
  expect((await count(1)).left).toBe(254);
  // The reservation in the background fails after the window has ended.
  now = 60_000;
  failure.reject(new Error('the storage is unavailable'));
  await new Promise(setImmediate);
  expect((await count(1)).left).toBe(255);
});
