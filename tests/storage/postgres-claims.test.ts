import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connectStorage } from '../../server/storage/open.ts';
import type { ConnectedStorage } from '../../server/storage/storage.ts';
import { areWaiting, openTransaction, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { claimOne, complete, leaseMs, memory, newProject } from './fixtures.ts';
import { openInSchema } from './postgres.ts';
import { opened, project, withStorage } from './suite.ts';

/* Claims of several servers, and the connections of the tasks thread. */

let tasks: ConnectedStorage;

withStorage(openInSchema);
beforeAll(async () => {
  tasks = await connectStorage({ kind: 'postgres', url: opened.url });
});
afterAll(() => tasks.close());

test('a task that another server completes while it is being claimed is not claimed', async () => {
  const id = await project.acceptOne();
  const completion = `UPDATE tasks SET state = 'complete', run_at = NULL WHERE memory_id = $1`;
  const commit = await openTransaction(opened.url, completion, [id]);
  const request = { owner: 'e', now: 2_000, leaseMs, horizon: 62_000, limit: 100 };
  const claiming = tasks.claimTasks(request);
  await until(() => areWaiting(opened.url, 'tasks'), { what: 'the wait of the claim' });
  await commit();
  expect(await claiming).toEqual([]);
});

test('closing the task storage waits for results that are being stored', async () => {
  const own = await connectStorage({ kind: 'postgres', url: opened.url });
  const id = await project.acceptOne();
  const request = { owner: 'c', now: 2_000, leaseMs, horizon: 62_000, limit: 1 };
  const tasks = await own.claimTasks(request);
  const storing = own.completeTasks(tasks.map((task) => ({ ...task, now: 3_000, chunks: 1 })));
  await own.close();
  expect(await storing).toEqual([true]);
  expect(await project.status(id)).toMatchObject({ status: 'complete' });
});

test("a claim leases the task for the requested time of the database's clock", async () => {
  await project.acceptOne();
  await tasks.claimTasks({ owner: 'd', now: 2_000, leaseMs, horizon: 62_000, limit: 1 });
  const text = `SELECT (leased_until / 1000.0 - extract(epoch FROM now()))::float8 AS seconds
    FROM tasks WHERE lease_owner = 'd'`;
  const [row] = await query(opened.url, text);
  expect(Number(row?.seconds)).toBeWithin(leaseMs / 2_000, leaseMs / 1_000 + 1);
});

test('completing a task does not change the user with the same id in another project', async () => {
  const other = await newProject(opened);
  await other.save(memory());
  const changes = () => {
    const text = 'SELECT last_change::text AS change FROM users WHERE project_id = $1';
    return query(opened.url, text, [other.id]);
  };
  const before = await changes();
  expect(before).toHaveLength(1);
  await project.acceptOne();
  expect(await complete(opened.storage, await claimOne(opened.storage))).toBe(true);
  expect(await changes()).toEqual(before);
});
