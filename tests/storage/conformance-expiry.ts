import { beforeEach, expect, test } from 'bun:test';
import { deletedBody, imported, keyed, memory, newProject, record } from './fixtures.ts';
import { externalKey, opened, project } from './suite.ts';

const expiresAt = 5_000;
const before = { now: 4_999, at: 4_999 };
const after = { now: 5_000, at: 5_000 };

/** Tests that a memory disappears at `expiresAt`, and that maintenance removes its data. */
export function testExpiry(): void {
  const maintain = (now: number) => opened.storage.maintain({ now, elapsedMs: 0 });
  beforeEach(async () => {
    // Removes the expired memories of earlier tests, which maintenance would count.
    await maintain(after.now);
  });

  test('is removed by maintenance with its task, and an unexpired memory is kept', async () => {
    const kept = memory({ expiresAt: 9_000, content: 'kept' });
    await project.save(kept);
    await project.save(memory({ expiresAt, userId: 'gone' }));
    await project.accept([record({ expiresAt })]);
    expect((await opened.storage.taskQueueState()).pending).toBe(1);
    expect(await maintain(before.now)).toMatchObject({ expiredMemories: 0 });
    expect(await maintain(after.now)).toMatchObject({ expiredMemories: 2, more: false });
    expect((await opened.storage.taskQueueState()).pending).toBe(0);
    expect((await project.users()).items).toMatchObject([{ userId: 'u', memories: 1 }]);
    expect(await project.list('u', before)).toMatchObject([{ id: kept.id }]);
    expect(await project.search('hello', before)).toEqual([]);
  });

  test('is removed in bounded batches, and maintenance reports that more remain', async () => {
    const many = Array.from({ length: 450 }, () => imported({ expiresAt }));
    await project.import(many);
    const runs = [await maintain(after.now), await maintain(after.now), await maintain(after.now)];
    expect(runs.map(({ more }) => more)).toEqual([true, true, false]);
    expect(runs.reduce((sum, { expiredMemories }) => sum + expiredMemories, 0)).toBe(450);
    expect((await project.users()).items).toEqual([]);
  });

  test('is removed only from the replays of its own response', async () => {
    const [kept, given] = [memory({ content: 'kept' }), memory({ expiresAt, content: 'secret' })];
    const elsewhere = await newProject(opened);
    await elsewhere.save(memory({ id: kept.id, expiresAt }));
    const first = await project.save(kept, { idempotency: keyed('kept') });
    await project.save(given, { idempotency: keyed('given') });
    const again = await project.save(kept, { ...after, idempotency: keyed('kept') });
    expect(again).toEqual({ ...first, replayed: true });
    const { response } = await project.save(given, { ...after, idempotency: keyed('given') });
    expect(response).toMatchObject({ body: deletedBody(given.id), version: null });
  });

  test('is the only memory that loses its external id to a new memory', async () => {
    const others = [
      memory({ ...externalKey, userId: 'other' }),
      memory({ source: 's', externalId: 'kept' }),
    ];
    for (const other of others) await project.save(other);
    await project.save(memory({ ...externalKey, expiresAt }));
    expect((await project.save(memory(externalKey), after)).response.status).toBe(201);
    for (const { id, ...other } of others) {
      expect(await project.get(id, after)).toMatchObject({ externalId: other.externalId });
      const { response } = await project.save(memory(other), after);
      expect(response).toMatchObject({ status: 200, memoryId: id });
    }
  });
}
