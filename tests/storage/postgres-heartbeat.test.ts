import { expect, test } from 'bun:test';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { claimOne, newProject } from './fixtures.ts';

/** Opens a storage whose heartbeat runs every few milliseconds. */
async function openWithFastHeartbeat(url: string) {
  const { setInterval: original } = globalThis;
  const fast = (act: () => void) => original(act, 10);
  globalThis.setInterval = Object.assign(fast, original);
  try {
    return await openPostgres(url);
  } finally {
    globalThis.setInterval = original;
  }
}

test('a server extends the leases of its own tasks, but not those of another server', async () => {
  const { url, drop } = await newDatabase();
  const [storage, other] = [await openWithFastHeartbeat(url), await openPostgres(url)];
  const project = await newProject({ storage });
  await project.acceptOne();
  await project.acceptOne();
  await claimOne(storage, { owner: 'alive' });
  await claimOne(other, { owner: 'gone' });
  await other.close();
  await query(url, `UPDATE tasks SET leased_until = now() + interval '20 seconds'`);
  const leases = async () => {
    const text = `SELECT lease_owner AS owner, leased_until > now() + interval '20 seconds' AS extended
      FROM tasks ORDER BY owner`;
    return (await query(url, text)).map(({ owner, extended }) => [owner, extended]);
  };
  const found = await until(
    async () => {
      const all = await leases();
      return all[0]?.[1] === true ? all : null;
    },
    { what: 'an extended lease' },
  );
  await storage.close();
  await drop();
  expect(found).toEqual([
    ['alive', true],
    ['gone', false],
  ]);
});
