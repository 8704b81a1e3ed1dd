import { afterAll, expect, test } from 'bun:test';
import { connectStorage, openStorage } from '../../server/storage/open.ts';
import { newDatabase } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { claim, memory, newProject, type Project } from './fixtures.ts';
import { lockUser as lockUserIn } from './postgres.ts';

/*
 * In these tests, another transaction, such as an erasure on another server, holds a lock on one
 * user's row.
 */

const database = await newDatabase();
afterAll(database.drop);

/** Opens a storage with its own connections. The tests wait for locks, so they run concurrently. */
async function setUp() {
  const storage = await openStorage(database.url);
  const newOne = () => newProject({ storage });
  const [project, other] = [await newOne(), await newOne()];
  return { storage, project, other, [Symbol.asyncDispose]: () => storage.close() };
}

const lockUser = (userId: string) => lockUserIn(database.url, userId);

test.concurrent.each<[string, saves: number, pauseMs: number, run: (project: Project) => unknown]>([
  ['a save in the group of its save', 1, 0, (project) => project.save(memory({ userId: 'v' }))],
  [
    'saves beside 20 of its saves',
    20,
    500,
    (project) => Promise.all(['w', 'x', 'y'].map((userId) => project.save(memory({ userId })))),
  ],
  [
    'an update beside 60 of its saves',
    60,
    500,
    (project) => project.update('mem_free', { content: 'at once' }),
  ],
])('other users do not wait for a locked user: %s', async (_, saves, pauseMs, run) => {
  await using context = await setUp();
  const { project } = context;
  const userId = `locked for ${saves} saves`;
  await project.save(memory({ userId }));
  await project.save(memory({ id: 'mem_free', userId: 'free' }));
  const unlock = await lockUser(userId);
  const waiting = Array.from({ length: saves }, () => project.save(memory({ userId })));
  if (pauseMs > 0) await Bun.sleep(pauseMs);
  const begun = performance.now();
  await run(project);
  const elapsedMs = performance.now() - begun;
  await unlock();
  await Promise.all(waiting);
  // Otherwise, it would wait until the saves fail, five seconds after they began.
  expect(elapsedMs).toBeLessThan(4_000);
  expect(await project.list(userId)).toHaveLength(saves + 1);
});

test.concurrent('every save of a locked user fails after five seconds', async () => {
  await using context = await setUp();
  const { project } = context;
  await project.save(memory({ userId: 'stuck' }));
  const unlock = await lockUser('stuck');
  const begun = performance.now();
  const saves = Array.from({ length: 20 }, () => project.save(memory({ userId: 'stuck' })));
  for (const error of await Promise.all(saves.map(rejectionOf))) {
    expect(error).toMatchObject({
      code: 'unavailable',
      message: 'the database is busy with another write for the same user; nothing was stored',
    });
  }
  const seconds = (performance.now() - begun) / 1_000;
  await unlock();
  expect(seconds).toBeGreaterThan(4.5);
  expect(seconds).toBeLessThan(9.5);
  await project.save(memory({ userId: 'stuck' }));
  expect(await project.list('stuck')).toHaveLength(2);
});

test.concurrent("the results of other tasks are stored even if one task's user is locked", async () => {
  await using context = await setUp();
  const { project, storage } = context;
  const { url } = database;
  const tasks = await connectStorage({ kind: 'postgres', url });
  const [locked, ...free] = [
    await project.acceptOne({ userId: 'waits' }),
    await project.acceptOne({ userId: 'free 1' }),
    await project.acceptOne({ userId: 'free 2' }),
  ];
  const results = (await claim(storage)).map((task) => ({ ...task, now: 3_000, chunks: 1 }));
  const unlock = await lockUser('waits');
  expect(await rejectionOf(tasks.completeTasks(results))).toMatchObject({ code: 'unavailable' });
  await unlock();
  const statuses = await project.statuses([locked, ...free]);
  expect(statuses.map(({ status }) => status)).toEqual(['processing', 'complete', 'complete']);
  expect(await tasks.completeTasks(results)).toEqual(
    results.map(({ memoryId }) => memoryId === locked),
  );
  await tasks.close();
});
