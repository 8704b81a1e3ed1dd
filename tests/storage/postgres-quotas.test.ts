import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { QuotaGrant, QuotaRequest } from '../../server/storage/project-storage.ts';
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
function newReserve(window: Omit<QuotaRequest, 'projectId' | 'amount'>) {
  projects += 1;
  const projectId = projects;
  return async (server: number, amount: number): Promise<QuotaGrant> => {
    const grant = await storages[server]?.reserveQuota?.({ projectId, amount, ...window });
    if (grant === undefined) throw new Error('this storage has no reserveQuota()');
    return grant;
  };
}

function sum(grants: QuotaGrant[]): number {
  return grants.reduce((total, { granted }) => total + granted, 0);
}

test('concurrent reservations by several servers are granted exactly the limit', async () => {
  const reserve = newReserve({ limit: 100, seconds: 60 });
  const grants = await Promise.all(Array.from({ length: 60 }, (_, index) => reserve(index % 2, 3)));
  expect(sum(grants)).toBe(100);
  expect(new Set(grants.map(({ endsAt }) => endsAt)).size).toBe(1);
  expect(await reserve(0, 1)).toMatchObject({ granted: 0, available: 0 });
});

test('a reservation returns the remaining requests and the end of the window', async () => {
  const reserve = newReserve({ limit: 100, seconds: 60 });
  const first = await reserve(0, 30);
  expect(first).toMatchObject({ granted: 30, available: 70 });
  expect(first.endsInMs).toBeWithin(59_000, 60_001);
  const second = await reserve(1, 50);
  expect(second).toMatchObject({ granted: 50, available: 20, endsAt: first.endsAt });
  expect(second.endsInMs).toBeLessThan(first.endsInMs);
  expect(await reserve(0, 50)).toMatchObject({ granted: 20, available: 0 });
});

test('the next window begins with the first reservation after the end of the previous one', async () => {
  const reserve = newReserve({ limit: 10, seconds: 1 });
  const first = await reserve(0, 10);
  const next = await until(async () => {
    const grant = await reserve(1, 4);
    return grant.granted > 0 ? grant : null;
  });
  expect(next).toMatchObject({ granted: 4, available: 6 });
  expect(next.endsAt - first.endsAt).toBeGreaterThanOrEqual(1_000);
  expect(await reserve(0, 10)).toMatchObject({ granted: 6, endsAt: next.endsAt });
});

test('each project has its own window', async () => {
  const [one, other] = [
    newReserve({ limit: 5, seconds: 60 }),
    newReserve({ limit: 5, seconds: 60 }),
  ];
  await one(0, 5);
  expect(await other(0, 5)).toMatchObject({ granted: 5 });
});

test('a window that began before the clock was set back still ends', async () => {
  const reserve = newReserve({ limit: 5, seconds: 60 });
  await reserve(0, 5);
  const late = `UPDATE quotas SET ends_at = clock_timestamp() + interval '1 hour'
    WHERE project_id = $1`;
  await query(database.url, late, [projects]);
  expect(await reserve(1, 5)).toMatchObject({ granted: 5 });
});
