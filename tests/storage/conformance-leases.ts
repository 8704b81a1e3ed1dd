import { expect, test } from 'bun:test';
import type { Task } from '../../server/storage/types/tasks.ts';
import { claim, claimOne, complete, imported, leaseMs, memory, record } from './fixtures.ts';
import { externalKey, fail, opened, project, release } from './suite.ts';

/** Tests which worker can store the result of a task, and until when. */
export function testLeases(): void {
  /** Expects that no operation accepts the lease. */
  async function expectLost(task: Task): Promise<void> {
    const attempts = [await complete(opened.storage, task), await fail(task, null)];
    expect([...attempts, await release(task)]).toEqual([false, false, false]);
  }

  const endings: [name: string, end: (task: Task) => Promise<unknown>][] = [
    ['the task is completed', (task) => complete(opened.storage, task)],
    ['the task fails and waits for a retry', (task) => fail(task, 9_000)],
    ['the task fails without a retry', (task) => fail(task, null)],
    ['the task is released', (task) => release(task)],
    [
      'the task is recovered',
      async () => {
        await opened.endLeases?.();
        await opened.storage.recoverTasks({ owner: 'new', now: 2_000 });
      },
    ],
    ['the record is ingested again', () => project.acceptOne(externalKey)],
    ['a save replaces the memory', () => project.save(memory(externalKey))],
    ['the memory is updated', (task) => project.update(task.memoryId ?? '', { content: 'x' })],
    ['the memory is deleted', (task) => project.remove(task.memoryId ?? '')],
    ['the user is erased', () => project.erase()],
    [
      'the lease ends and the task is claimed again',
      async () => {
        await opened.endLeases?.();
        await claimOne(opened.storage, { now: 2_000 + leaseMs });
      },
    ],
    [
      'the memory is deleted and imported again',
      async ({ memoryId }) => {
        await project.remove(memoryId ?? '');
        await project.import([imported({ id: memoryId ?? '', status: 'processing' })]);
        await claimOne(opened.storage);
      },
    ],
  ];
  for (const [what, end] of endings) {
    test(`is lost when ${what}`, async () => {
      await project.acceptOne(externalKey);
      const task = await claimOne(opened.storage);
      await end(task);
      await expectLost(task);
    });
  }

  test('of results that are stored together, only those whose lease is still held are accepted', async () => {
    const users = Array.from({ length: 24 }, (_, index) => `u-${index % 9}`);
    const ids = await project.accept(users.map((userId) => record({ userId })));
    const tasks = await claim(opened.storage);
    const removed = ids.filter((_, index) => index % 5 === 1);
    for (const id of removed) await project.remove(id);
    const results = tasks.map((task) => ({ ...task, now: 3_000, chunks: 1 }));
    const stored = await opened.storage.completeTasks(results);
    expect(stored).toEqual(ids.map((id) => !removed.includes(id)));
    const statuses = await project.statuses(ids);
    const complete = Array.from({ length: ids.length - removed.length }, () => 'complete' as const);
    expect(statuses.map(({ status }) => status)).toEqual(complete);
  });

  test('a task cannot be claimed again until its lease ends, and is then claimed alone', async () => {
    await project.acceptOne();
    const task = await claimOne(opened.storage);
    await project.acceptOne();
    const during = await claim(opened.storage, { owner: 'b', now: 1_999 + leaseMs });
    expect(during).toHaveLength(1);
    expect(during[0]?.memoryId).not.toBe(task.memoryId);
    await opened.endLeases?.('worker');
    const after = await claim(opened.storage, { owner: 'b', now: 2_000 + leaseMs });
    expect(after).toMatchObject([{ memoryId: task.memoryId, attempt: 2 }]);
    expect(await complete(opened.storage, after[0] ?? task)).toBe(true);
  });

  test('recovery requeues the tasks of owners that no longer exist, and counts the attempt', async () => {
    await project.accept([record(), record()]);
    const gone = await claimOne(opened.storage, { owner: 'gone' });
    const own = await claimOne(opened.storage, { owner: 'own' });
    await opened.endLeases?.('gone');
    expect(await opened.storage.recoverTasks({ owner: 'own', now: 3_000 })).toBe(1);
    expect(await claim(opened.storage, { owner: 'own', now: 3_000 })).toMatchObject([
      { memoryId: gone.memoryId, attempt: 2 },
    ]);
    expect(await complete(opened.storage, own)).toBe(true);
  });

  test('recovery requeues tasks whose lease has ended, regardless of the owner', async () => {
    await project.acceptOne();
    await claimOne(opened.storage, { owner: 'own' });
    await opened.endLeases?.();
    const late = { owner: 'own', now: 2_000 + leaseMs };
    expect(await opened.storage.recoverTasks(late)).toBe(1);
  });
}
