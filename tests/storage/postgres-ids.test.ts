import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { bucketOf, bucketOfId } from '../../server/bucket.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newWholeDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { imported, newProject } from './fixtures.ts';

/* An id is unique in its project, although the primary key also contains the user's bucket. */

let database: TestDatabase;
let storage: Storage;

beforeAll(async () => {
  database = await newWholeDatabase();
  storage = await openStorage(database.url);
});
afterAll(async () => {
  await storage.close();
  await database.drop();
});

/** Returns a user in the bucket that a lookup of the id reads first. */
function userInBucketOf(id: string): string {
  let n = 0;
  while (bucketOf(`user ${n}`) !== bucketOfId(id)) n += 1;
  return `user ${n}`;
}

async function areWaiting(count: number): Promise<boolean> {
  const [row] = await query(
    database.url,
    `SELECT count(*)::int4 AS n FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.n === count;
}

test('an id that is imported for two users at the same time is imported once', async () => {
  const project = await newProject({ storage });
  const id = 'mem_of_another_database';
  const users = [userInBucketOf(id), 'another user'];
  const sql = new SQL(database.url, { max: 1 });
  const session = await sql.reserve();
  await session`BEGIN`;
  // This lock mode allows reads, so both imports find the id unused before either of them writes.
  await session`LOCK TABLE memories IN SHARE ROW EXCLUSIVE MODE`;
  const imports = users.map((userId) => project.import([imported({ id, userId })]));
  await until(() => areWaiting(2), { what: 'two waiting imports' });
  await session`COMMIT`;
  session.release();
  await sql.close();
  await Promise.all(imports);
  const lists = await Promise.all(users.map((userId) => project.list(userId)));
  expect(lists.flat()).toMatchObject([{ id }]);
});

test('an id that two projects import for different users is found in both projects', async () => {
  const id = 'mem_in_two_projects';
  const projects = [await newProject({ storage }), await newProject({ storage })];
  for (const [n, project] of projects.entries()) {
    await project.import([imported({ id, userId: `owner ${n}` })]);
  }
  // The two users are in different buckets, and neither is in the bucket of the id.
  const buckets = [bucketOfId(id), bucketOf('owner 0'), bucketOf('owner 1')];
  expect(new Set(buckets).size).toBe(3);
  const found = await Promise.all(projects.map((project) => project.get(id)));
  expect(found).toMatchObject([{ userId: 'owner 0' }, { userId: 'owner 1' }]);
});

test('project ids are drawn from a range so large that they do not collide', async () => {
  const ids: number[] = [];
  for (let n = 0; n < 8; n += 1) ids.push((await newProject({ storage })).id);
  // The chance that eight numbers of 48 bits are all below 2⁴⁰ is 2⁻⁶⁴.
  expect(Math.max(...ids)).toBeGreaterThan(2 ** 40);
});
