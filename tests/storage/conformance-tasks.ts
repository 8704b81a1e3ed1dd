import { expect, test } from 'bun:test';
import type { Task } from '../../server/storage/types/tasks.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import {
  claim,
  claimOne,
  complete,
  drainTasks,
  imported,
  keyed,
  memory,
  newProject,
  record,
  smallQueueRecords,
} from './fixtures.ts';
import { externalKey, fail, opened, project, release } from './suite.ts';

/** Tests the durable queue: order, leases, attempts, recovery. */
export function testTasks(): void {
  const text = (content: string) => ({ content, metadata: record().metadata });
  const memoryIds = (tasks: Task[]) => tasks.map(({ memoryId }) => memoryId);

  test('an accepted record is processing immediately, and complete once its task is', async () => {
    const id = await project.acceptOne();
    const pending = { status: 'processing', chunksTotal: 0, attempts: 0, errorMessage: null };
    expect(await project.status(id)).toMatchObject({ ...pending, updatedAt: 1_000 });
    expect(await project.get(id)).toMatchObject({ status: 'processing', version: 1 });
    const task = await claimOne(opened.storage);
    expect(task).toMatchObject({ kind: 'index', attempt: 1, memoryId: id });
    expect(await project.status(id)).toMatchObject({ status: 'processing', attempts: 1 });
    expect(await opened.storage.completeTasks([{ ...task, now: 3_000, chunks: 2 }])).toEqual([
      true,
    ]);
    const done = { status: 'complete', chunksComplete: 2, chunksTotal: 2, attempts: 1 };
    expect(await project.status(id)).toMatchObject({ ...done, updatedAt: 3_000 });
    expect(await project.get(id)).toMatchObject({ status: 'complete', updatedAt: 3_000 });
    expect((await project.users()).items).toMatchObject([{ memories: 1 }]);
    expect(await claim(opened.storage, { now: 9_000_000 })).toEqual([]);
  });

  test('texts are read for tasks of several projects; that of a deleted memory is null', async () => {
    const other = await newProject(opened);
    const accept = async (content: string, at: number, own = project) => {
      await own.accept([record({ content })], { at });
    };
    await accept('one', 1);
    await accept('two', 2, other);
    await accept('', 3);
    await accept('deleted', 4);
    const tasks = await claim(opened.storage);
    await project.remove(tasks[3]?.memoryId ?? '');
    expect(await opened.storage.readTexts(tasks)).toEqual([
      text('one'),
      text('two'),
      text(''),
      null,
    ]);
    expect(await opened.storage.readTexts(tasks.slice(0, 1))).toEqual([text('one')]);
    expect(await opened.storage.readTexts([])).toEqual([]);
  });

  test('long texts are read one at a time', async () => {
    // With the metadata, these are 64 KiB and two bytes.
    const long = 'é'.repeat(32_768);
    for (const content of [long, 'short', long.slice(1)]) {
      await project.accept([record({ content })]);
    }
    const tasks = await claim(opened.storage);
    expect(await opened.storage.readTexts(tasks)).toEqual([
      null,
      text('short'),
      text(long.slice(1)),
    ]);
    expect(await opened.storage.readTexts(tasks.slice(0, 1))).toEqual([text(long)]);
  });

  test('the task that has been due longest is claimed first, by one worker', async () => {
    const ids = [
      await project.acceptOne({}, 30),
      await project.acceptOne({}, 10),
      await project.acceptOne({}, 20),
    ];
    const claims = await Promise.all([
      claim(opened.storage, { owner: 'a', now: 50, limit: 2 }),
      claim(opened.storage, { owner: 'b', now: 50, limit: 2 }),
    ]);
    // Either worker may be the first.
    const [first = [], second = []] = claims.sort((a, b) => b.length - a.length);
    expect(memoryIds(first)).toEqual([ids[1] ?? '', ids[2] ?? '']);
    expect(memoryIds(second)).toEqual([ids[0] ?? '']);
  });

  test('tasks of a batch are claimed in the order of its records', async () => {
    const ids = await project.accept(Array.from({ length: 20 }, () => record()));
    expect(memoryIds(await claim(opened.storage, { limit: 20 }))).toEqual(ids);
  });

  test('a failed task waits for its retry time and is claimed alone', async () => {
    const id = await project.acceptOne({}, 10);
    await fail(await claimOne(opened.storage, { now: 20 }), 100, 20);
    expect(await project.status(id)).toMatchObject({
      status: 'processing',
      errorMessage: 'it failed',
      attempts: 1,
    });
    expect(await claim(opened.storage, { now: 99 })).toEqual([]);
    const [first, last] = [await project.acceptOne({}, 90), await project.acceptOne({}, 200)];
    // It is due exactly at its retry time.
    expect(memoryIds(await claim(opened.storage, { now: 100 }))).toEqual([first]);
    const [alone, ...more] = await claim(opened.storage, { now: 100 });
    if (alone === undefined) throw new Error('the task is not due');
    expect([alone, ...more]).toMatchObject([{ memoryId: id, attempt: 2 }]);
    expect(memoryIds(await claim(opened.storage, { now: 100 }))).toEqual([last]);
    await complete(opened.storage, alone);
    const done = { status: 'complete', attempts: 2, errorMessage: null };
    expect(await project.status(id)).toMatchObject(done);
  });

  test('updatedAt of a record never decreases, even if the clock is set back', async () => {
    const id = await project.acceptOne(externalKey);
    const updatedAt = async () => (await project.status(id))?.updatedAt;
    const next = () => claimOne(opened.storage, { now: 9_000 });
    await fail(await next(), 9_000, 9_000);
    await fail(await next(), 9_000, 3_000);
    expect(await updatedAt()).toBe(9_000);
    await opened.storage.completeTasks([{ ...(await next()), now: 4_000, chunks: 1 }]);
    expect(await updatedAt()).toBe(9_000);
    await project.acceptOne({ ...externalKey, content: 'newer' }, 5_000);
    expect(await updatedAt()).toBe(9_000);
    await project.update(id, { content: 'x' }, { at: 6_000 });
    expect(await updatedAt()).toBe(9_000);
  });

  test('a task whose retry time is exactly the horizon is not due yet', async () => {
    await project.acceptOne({}, 10);
    await fail(await claimOne(opened.storage, { now: 20 }), 60_100, 20);
    // The horizon is 60 seconds after `now`.
    expect(await claim(opened.storage, { now: 100 })).toEqual([]);
    // A retry time beyond the horizon is due, because the clock must have been set back.
    expect(await claim(opened.storage, { now: 99 })).toHaveLength(1);
  });

  test('a task that was never attempted is due, even if it was accepted in the future', async () => {
    const id = await project.acceptOne({}, 50_000);
    expect(memoryIds(await claim(opened.storage, { now: 1_000 }))).toEqual([id]);
  });

  test('a released task uses up no attempt and is due immediately', async () => {
    await project.acceptOne();
    const task = await claimOne(opened.storage);
    expect(await release(task)).toBe(true);
    expect(await claimOne(opened.storage)).toMatchObject({ memoryId: task.memoryId, attempt: 1 });
  });

  test.each<[state: string, end: (task: Task) => Promise<unknown>]>([
    ['failed', (task) => fail(task, null)],
    ['complete', (task) => complete(opened.storage, task)],
  ])('a %s record that is ingested again keeps its id and is processed again', async (_, end) => {
    const id = await project.acceptOne({ ...externalKey, content: 'old' }, 10);
    await end(await claimOne(opened.storage));
    const newer = { ...externalKey, content: 'new', type: 'ticket' } as const;
    expect(await project.acceptOne(newer, 5_000)).toBe(id);
    const replaced = { ...newer, version: 2, status: 'processing' };
    expect(await project.get(id)).toMatchObject({ ...replaced, createdAt: 10, updatedAt: 5_000 });
    const fresh = { attempts: 0, errorMessage: null, chunksComplete: 0, chunksTotal: 0 };
    expect(await project.status(id)).toMatchObject(fresh);
    const state = { pending: 1, running: 0, oldestAcceptedAt: 5_000 };
    expect(await opened.storage.taskQueueState()).toMatchObject(state);
    expect(await claimOne(opened.storage)).toMatchObject({ memoryId: id, attempt: 1 });
  });

  test('the queue state counts waiting and running tasks', async () => {
    const empty = { pending: 0, running: 0, oldestAcceptedAt: null };
    expect(await opened.storage.taskQueueState()).toMatchObject(empty);
    await project.acceptOne({}, 30);
    await project.acceptOne({}, 20);
    await claimOne(opened.storage);
    const state = { pending: 2, running: 1, oldestAcceptedAt: 20 };
    expect(await opened.storage.taskQueueState()).toMatchObject(state);
  });

  test('the queue state counts failed tasks until they are accepted again', async () => {
    const failed = async () => (await opened.storage.taskQueueState()).failed;
    const before = await failed();
    await project.acceptOne(externalKey);
    await fail(await claimOne(opened.storage), 0);
    expect(await failed()).toBe(before);
    await fail(await claimOne(opened.storage), null);
    expect(await failed()).toBe(before + 1);
    await project.acceptOne(externalKey);
    expect(await failed()).toBe(before);
  });
}

export function testFullQueue(): void {
  const records = (count: number) => Array.from({ length: count }, () => record());

  test('rejects records and imports of its project until tasks are done', async () => {
    const [full, free] = [await newProject(opened), await newProject(opened)];
    const known = { idempotency: keyed('first') };
    const first = await full.accept(records(smallQueueRecords - 1), known);
    const refused = { code: 'rate_limited', retryAfterSeconds: expect.any(Number) };
    expect(await rejectionOf(full.accept(records(2)))).toMatchObject(refused);
    await full.accept(records(1));
    expect(await rejectionOf(full.accept(records(1)))).toMatchObject(refused);
    const waiting = [imported({ status: 'processing' })];
    expect(await rejectionOf(full.import(waiting))).toMatchObject(refused);
    expect(await full.import([imported()])).toMatchObject({ imported: 1 });
    expect((await full.save(memory())).response.status).toBe(201);
    expect(await full.accept(records(1), known)).toEqual(first);
    expect(await free.accept(records(1))).toHaveLength(1);
    expect((await full.users()).items).toMatchObject([{ memories: smallQueueRecords + 2 }]);
    await drainTasks(opened);
    const accepted = () => full.accept(records(1)).catch(() => null);
    expect(await until(accepted, { what: 'space in the queue' })).toHaveLength(1);
  });

  test('has room for records that change nothing', async () => {
    const project = await newProject(opened);
    const same = Array.from({ length: smallQueueRecords - 5 }, (_, n) =>
      record({ externalId: `${n}` }),
    );
    const again = () => same.map((one) => record({ externalId: one.externalId }));
    const ids = await project.accept(same);
    await drainTasks(opened);
    // The old count leaves room for five records, and a new count for all.
    expect(await project.accept([...again(), ...records(5)])).toEqual([
      ...ids,
      ...Array.from({ length: 5 }, () => expect.any(String)),
    ]);
    const rest = () => project.accept([...again(), ...records(smallQueueRecords - 5)]);
    const accepted = await until(() => rest().catch(() => null), { what: 'a new count' });
    expect(accepted.slice(0, ids.length)).toEqual(ids);
    // A full queue rejects all records before it compares them with their memories.
    const refused = { code: 'rate_limited' };
    expect(await rejectionOf(project.accept(again()))).toMatchObject(refused);
  });

  test('never has more records than the limit after concurrent batches', async () => {
    const project = await newProject(opened);
    const batches = Array.from({ length: 8 }, () => project.accept(records(6)));
    const settled = await Promise.allSettled(batches);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  test('is still full after the storage is reopened', async () => {
    const full = await newProject(opened);
    await full.accept(records(smallQueueRecords));
    await opened.reopen();
    const refused = { code: 'rate_limited' };
    expect(await rejectionOf(full.accept(records(1)))).toMatchObject(refused);
  });
}
