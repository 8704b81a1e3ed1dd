import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { QuotaTake, QuotaTaken } from '../../server/storage/project-storage.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

/* Two servers reserve requests from the same rate-limit window. */

let database: TestDatabase;
let storages: Storage[];
beforeAll(async () => {
  database = await newDatabase();
  storages = [await openStorage(database.url), await openStorage(database.url)];
});
afterAll(async () => {
  for (const storage of storages) await storage.close();
  await database.drop();
});

let projects = 0;

/** Returns a function that reserves requests for a new project through one of the servers. */
function newTakes(window: Omit<QuotaTake, 'projectId' | 'amount'>) {
  projects += 1;
  const projectId = projects;
  return async (server: number, amount: number): Promise<QuotaTaken> => {
    const taken = await storages[server]?.takeQuota?.({ projectId, amount, ...window });
    if (taken === undefined) throw new Error('this storage has no takeQuota()');
    return taken;
  };
}

function sum(takes: QuotaTaken[]): number {
  return takes.reduce((total, { granted }) => total + granted, 0);
}

test('concurrent takes by several servers are granted exactly the limit', async () => {
  const take = newTakes({ limit: 100, seconds: 60 });
  const takes = await Promise.all(Array.from({ length: 60 }, (_, index) => take(index % 2, 3)));
  expect(sum(takes)).toBe(100);
  expect(new Set(takes.map(({ endsAt }) => endsAt)).size).toBe(1);
  expect(await take(0, 1)).toMatchObject({ granted: 0, untaken: 0 });
});

test('a take returns the remaining requests and the end of the window', async () => {
  const take = newTakes({ limit: 100, seconds: 60 });
  const first = await take(0, 30);
  expect(first).toMatchObject({ granted: 30, untaken: 70 });
  expect(first.endsInMs).toBeWithin(59_000, 60_001);
  const second = await take(1, 50);
  expect(second).toMatchObject({ granted: 50, untaken: 20, endsAt: first.endsAt });
  expect(second.endsInMs).toBeLessThan(first.endsInMs);
  expect(await take(0, 50)).toMatchObject({ granted: 20, untaken: 0 });
});

test('the next window begins with the first take after the end of the previous one', async () => {
  const take = newTakes({ limit: 10, seconds: 1 });
  const first = await take(0, 10);
  const next = await until(async () => {
    const taken = await take(1, 4);
    return taken.granted > 0 ? taken : null;
  });
  expect(next).toMatchObject({ granted: 4, untaken: 6 });
  expect(next.endsAt - first.endsAt).toBeGreaterThanOrEqual(1_000);
  expect(await take(0, 10)).toMatchObject({ granted: 6, endsAt: next.endsAt });
});

test('each project has its own window', async () => {
  const [one, other] = [newTakes({ limit: 5, seconds: 60 }), newTakes({ limit: 5, seconds: 60 })];
  await one(0, 5);
  expect(await other(0, 5)).toMatchObject({ granted: 5 });
});

test('a window that began before the clock was set back still ends', async () => {
  const take = newTakes({ limit: 5, seconds: 60 });
  await take(0, 5);
  const late = `UPDATE quotas SET ends_at = clock_timestamp() + interval '1 hour'
    WHERE project_id = $1`;
  await query(database.url, late, [projects]);
  expect(await take(1, 5)).toMatchObject({ granted: 5 });
});
