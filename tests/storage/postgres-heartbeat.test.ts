import { expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { claimOne, leaseMs, newProject } from './fixtures.ts';
import { openInSchema, openWithFastTimers } from './postgres.ts';

/** The time of the database's clock, in `seconds`. */
const inSeconds = (seconds: number) => `((extract(epoch FROM now()) + ${seconds}) * 1000)::bigint`;

/** The heartbeat runs every 50 ms, so that a slow database keeps up with it. */
const openWithFastHeartbeat = () =>
  openInSchema({ open: (url: string) => openWithFastTimers(url, 50) });

test('a server extends the leases of its own tasks, but not those of another server', async () => {
  await using opened = await openWithFastHeartbeat();
  const { storage, url } = opened;
  const other = await openStorage(url);
  const project = await newProject(opened);
  await project.acceptOne();
  await project.acceptOne();
  await claimOne(storage, { owner: 'alive' });
  await claimOne(other, { owner: 'gone' });
  await other.close();
  await query(url, `UPDATE tasks SET leased_until = ${inSeconds(20)}`);
  const leases = async () => {
    const text = `SELECT lease_owner AS owner, leased_until > ${inSeconds(20)} AS extended
      FROM tasks ORDER BY owner`;
    const all = await query(url, text);
    return all[0]?.extended === true ? all : null;
  };
  const found = await until(leases, { what: 'an extended lease' });
  expect(found).toEqual([
    { owner: 'alive', extended: true },
    { owner: 'gone', extended: false },
  ]);
});

test('a server does not extend a lease that it has lost to another server', async () => {
  await using opened = await openWithFastHeartbeat();
  const { storage, url } = opened;
  const other = await openStorage(url);
  const project = await newProject(opened);
  const endLeasesIn = (seconds: number) =>
    query(url, `UPDATE tasks SET leased_until = ${inSeconds(seconds)}`);
  await project.acceptOne();
  await claimOne(storage, { owner: 'slow' });
  await endLeasesIn(-1);
  await claimOne(other, { owner: 'gone' });
  await other.close();
  await project.acceptOne();
  await claimOne(storage, { owner: 'alive' });
  await endLeasesIn(20);
  const extended = async () => {
    const text = `SELECT lease_owner AS owner FROM tasks
      WHERE leased_until > ${inSeconds(20)} ORDER BY owner`;
    const owners = (await query(url, text)).map(({ owner }) => owner);
    return owners.includes('alive') ? owners : null;
  };
  const owners = await until(extended, { what: 'an extended lease' });
  expect(owners).toEqual(['alive']);
});

test('a heartbeat extends a lease to the length that was requested, and no further', async () => {
  await using opened = await openWithFastHeartbeat();
  const { storage, url } = opened;
  const project = await newProject(opened);
  await project.acceptOne();
  await claimOne(storage);
  await query(url, `UPDATE tasks SET leased_until = ${inSeconds(20)}`);
  const extended = async () => {
    const text = `SELECT (leased_until / 1000.0 - extract(epoch FROM now()))::float8 AS seconds
      FROM tasks`;
    const [row] = await query(url, text);
    const seconds = Number(row?.seconds);
    return seconds > 20 ? seconds : null;
  };
  const seconds = await until(extended, { what: 'an extended lease' });
  expect(seconds).toBeLessThan(leaseMs / 1_000 + 1);
});
