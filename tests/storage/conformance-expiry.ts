import { beforeEach, expect, test } from 'bun:test';
import { bodyOf, deletedBody, imported, keyed, memory, newProject, record } from './fixtures.ts';
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

  test('is removed from replayed responses, before and after maintenance', async () => {
    const given = memory({ expiresAt, content: 'secret' });
    const idempotency = keyed('save');
    const saved = await project.save(given, { idempotency });
    const replay = (at: { at: number }) => project.save(given, { ...at, idempotency });
    expect(await replay(before)).toEqual({ ...saved, replayed: true });
    const body = deletedBody(given.id);
    const cut = { status: 201, body, memoryId: given.id, version: null };
    expect(await replay(after)).toEqual({ response: cut, replayed: true });
    await maintain(after.now);
    expect(await replay(before)).toEqual({ response: cut, replayed: true });
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
    expect(response.body).toBe(deletedBody(given.id));
  });

  test('is not replaced by a save or an ingest with its external id', async () => {
    const given = memory({ ...externalKey, expiresAt, content: 'former' });
    await project.save(given);
    const other = memory({ ...externalKey, userId: 'other' });
    await project.save(other);
    const saved = await project.save(memory({ ...externalKey, content: 'later' }), after);
    expect(saved.response.status).toBe(201);
    expect(await project.get(other.id, after)).toMatchObject(externalKey);
    const { id } = bodyOf(saved);
    expect(await project.get(id, after)).toMatchObject({ version: 1, createdAt: after.at });
    const ingested = memory({ ...externalKey, source: 't', expiresAt });
    await project.save(ingested);
    const [accepted = ''] = await project.accept([record({ ...externalKey, source: 't' })], after);
    expect(accepted).not.toBe(ingested.id);
    await maintain(after.now);
    expect(await project.list('u', after)).toHaveLength(2);
    expect((await project.users()).items).toMatchObject([{ memories: 1 }, { memories: 2 }]);
  });

  test('is the only memory that loses its external id to a new memory', async () => {
    const kept = { source: 's', externalId: 'kept' };
    const other = memory(kept);
    await project.save(other);
    await project.save(memory({ ...externalKey, expiresAt }));
    await project.save(memory(externalKey), after);
    expect(await project.get(other.id, after)).toMatchObject(kept);
    const { response } = await project.save(memory(kept), after);
    expect(response).toMatchObject({ status: 200, memoryId: other.id });
  });
}
