import { afterAll, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { QuotaGrant, QuotaRequest } from '../../server/storage/types/project.ts';
import { newDatabase, query } from '../support/postgres.ts';

/* Two servers reserve requests from the same rate-limit window. */

const database = await newDatabase();
const storages = [await openStorage(database.url), await openStorage(database.url)];
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

test.each([
  ['has ended', '-1 second'],
  ['began before the clock was set back', '1 hour'],
])('a window that %s is followed by another', async (_, ahead) => {
  const reserve = newReserve({ limit: 5, seconds: 60 });
  await reserve(0, 5);
  const moved = `UPDATE quotas SET ends_at = clock_timestamp() + interval '${ahead}'
    WHERE project_id = $1`;
  await query(database.url, moved, [projects]);
  const { endsInMs, ...grant } = await reserve(1, 3);
  expect(grant).toMatchObject({ granted: 3, available: 2 });
  expect(endsInMs).toBeWithin(59_000, 60_001);
  const { endsAt } = grant;
  expect(await reserve(0, 3)).toMatchObject({ granted: 2, available: 0, endsAt });
});
