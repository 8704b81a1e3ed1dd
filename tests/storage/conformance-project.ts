import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { nothing } from '../../server/memory/measurement.ts';
import type { StoredMemory } from '../../server/storage/types/memories.ts';
import type { Measurement, UserRow } from '../../server/storage/types/project.ts';
import { rejectionOf } from '../support/thrown.ts';
import { claimOne, imported, memory, newProject, walk } from './fixtures.ts';
import { fail, opened, project } from './suite.ts';

const userIds = ['a', 'ä', 'B', '🌊', '\uff5e', ' '];

const anyMemory: fc.Arbitrary<StoredMemory> = fc
  .record({
    userId: fc.constantFrom(...userIds),
    type: fc.constantFrom('memory', 'ticket', 'document', 'event', 'profile', 'conversation'),
    status: fc.constantFrom('processing', 'complete', 'failed'),
    content: fc
      .string({ unit: 'grapheme', minLength: 1 })
      .map((text) => text.replaceAll('\0', '.')),
    metadata: fc.dictionary(fc.constantFrom('k', 'ü'), fc.constantFrom('v', '語', 1)),
    createdAt: fc.integer({ min: 0, max: 20 }),
    expiresAt: fc.constantFrom(null, 1_500, 2_000, 9_000),
  })
  .map(({ metadata, ...fields }) => imported({ ...fields, metadata: JSON.stringify(metadata) }));

const visibleOf = (memories: readonly StoredMemory[], now: number) =>
  memories.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);

const sizeOf = ({ content, metadata }: StoredMemory) =>
  Buffer.byteLength(content) + Buffer.byteLength(metadata);

/** What a measurement of these memories must be. */
function sumOf(memories: readonly StoredMemory[], now: number): Measurement {
  const sum = nothing();
  const visible = visibleOf(memories, now);
  for (const one of visible) {
    sum.memories += 1;
    sum.bytes += sizeOf(one);
    sum.byType[one.type] += 1;
    sum.byStatus[one.status] += 1;
  }
  const times = visible.map(({ createdAt }) => createdAt);
  const [oldestAt, newestAt] =
    times.length === 0 ? [null, null] : [Math.min(...times), Math.max(...times)];
  return { ...sum, users: usersOf(visible).length, oldestAt, newestAt };
}

/** What the list of the users must be, in the bytewise order of their ids. */
function usersOf(visible: readonly StoredMemory[]): UserRow[] {
  const groups = Object.entries(Object.groupBy(visible, ({ userId }) => userId));
  return groups
    .map(([userId, own = []]) => ({
      userId,
      memories: own.length,
      bytes: own.reduce((sum, one) => sum + sizeOf(one), 0),
      lastCreatedAt: Math.max(...own.map(({ createdAt }) => createdAt)),
    }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.userId), Buffer.from(b.userId)));
}

/** Tests what an operator sees of a project: the sums over its memories, and its tasks. */
export function testMeasurements(): void {
  test('is exact, of the project and of a user, and so is the list of users', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMemory, { maxLength: 30 }), async (memories) => {
        const own = await newProject(opened);
        await own.import(memories);
        const now = 2_000;
        expect(await own.measure({ now })).toEqual(sumOf(memories, now));
        for (const onlyUserId of userIds) {
          const ofUser = memories.filter(({ userId }) => userId === onlyUserId);
          expect(await own.measure({ now, onlyUserId })).toEqual(sumOf(ofUser, now));
        }
        const users = usersOf(visibleOf(memories, now));
        expect((await own.users({ now })).items).toEqual(users);
        for (const order of ['memories', 'bytes'] as const) {
          const largest = users.toSorted((a, b) => b[order] - a[order]).slice(0, 3);
          const { items, next } = await own.users({ now, order, limit: 3 });
          expect({ items, next }).toEqual({ items: largest, next: null });
        }
      }),
      { numRuns: 15, examples: [[['🌊', '\uff5e'].map((userId) => imported({ userId }))]] },
    );
  });

  test('has all memories and users of the parts, whatever the size of the users', async () => {
    const userOf = (n: number) => (n < 3_000 ? 'large' : n % 2 === 0 ? `u${n}` : 'middle');
    const memories = Array.from({ length: 5_000 }, (_, n) =>
      imported({ userId: userOf(n), content: 'x'.repeat(n % 7), createdAt: n }),
    );
    for (let at = 0; at < memories.length; at += 1_000) {
      await project.import(memories.slice(at, at + 1_000));
    }
    expect(await project.measure()).toEqual(sumOf(memories, 2_000));
    for (const onlyUserId of ['large', 'middle']) {
      const ofUser = memories.filter(({ userId }) => userId === onlyUserId);
      expect(await project.measure({ onlyUserId })).toEqual(sumOf(ofUser, 2_000));
    }
  });

  test('counts the memories whose present text has vectors of the present model', async () => {
    const described = { dims: 8, mean: 0.1, deviation: 0.1, centre: null, probe: 'AAAA' };
    const { storage } = opened;
    const useModel = () =>
      storage.ensureModel({ name: 'm', digest: crypto.randomUUID(), ...described });
    const embedded = async () => (await project.measure()).embedded;
    const user = { projectId: project.id, userId: 'u' };
    const { modelId } = await useModel();
    const given = memory();
    await project.save(given);
    await project.save(memory());
    expect(await embedded()).toBe(0);
    const { from, upTo, memories } = await storage.memoriesToEmbed({
      ...user,
      modelId,
      limit: 9,
    });
    const vectors = memories.map(({ id, change }) => {
      return { id, change, textHash: 'h', data: 'AAAAAAAAAAAAAAAA' };
    });
    await storage.storeVectors({ ...user, modelId, from, upTo, vectors });
    expect(await embedded()).toBe(2);
    await project.update(given.id, { content: 'another text' });
    expect(await embedded()).toBe(1);
    await useModel();
    expect(await embedded()).toBe(0);
  });
}

export function testProjectTasks(): void {
  const ids = async (...of: Parameters<typeof project.tasks>) =>
    (await project.tasks(...of)).items.map(({ id }) => id);

  test('are listed by their status, with their attempts and error', async () => {
    const id = await project.acceptOne({ content: 'text' });
    const of = async () => ({
      processing: (await project.tasks('processing')).items,
      failed: (await project.tasks('failed')).items,
    });
    const shown = async () => ({ ...(await project.list('u'))[0] });
    const waiting = { ...(await shown()), attempts: 0, errorMessage: null };
    expect(await of()).toEqual({ processing: [waiting as never], failed: [] });
    await fail(await claimOne(opened.storage), 2_000);
    const retried = { ...(await shown()), attempts: 1, errorMessage: 'it failed' };
    expect(retried.status).toBe('processing');
    expect(await of()).toEqual({ processing: [retried as never], failed: [] });
    await fail(await claimOne(opened.storage), null);
    const failed = { ...(await shown()), attempts: 2, errorMessage: 'it failed' };
    expect(failed.status).toBe('failed');
    expect(await of()).toEqual({ processing: [], failed: [failed as never] });
    await project.update(id, { content: 'corrected' });
    expect(await of()).toEqual({ processing: [], failed: [] });
  });

  test.each(['processing', 'failed'] as const)('that are %s have pages', async (status) => {
    const times = [5, 3, 5, 9, 5, 1, 3];
    const given = times.map((createdAt) => imported({ status, createdAt }));
    await project.import(given);
    const key = ({ createdAt, id }: StoredMemory) => `${createdAt} ${id}`;
    const sorted = given.map(key).sort().reverse();
    for (const limit of [1, 2, 7, 8]) {
      const pages = await walk((after) => project.tasks(status, { limit, after }));
      const seen = pages.flat().map((one) => `${Date.parse(one.createdAt)} ${one.id}`);
      expect(seen).toEqual(sorted);
      expect(pages).toHaveLength(Math.ceil(times.length / limit));
    }
    const invalid = { code: 'invalid_request', details: [{ field: 'cursor' }] };
    expect(await rejectionOf(project.tasks(status, { after: 'x' }))).toMatchObject(invalid);
  });

  test('that keep their status are listed once, while others change theirs', async () => {
    const given = Array.from({ length: 12 }, (_, n) =>
      imported({ status: 'failed', createdAt: n }),
    );
    await project.import(given);
    const [kept, changed] = [
      given.filter((_, n) => n % 2 === 0),
      given.filter((_, n) => n % 2 > 0),
    ];
    const left = changed.slice();
    const pages = await walk(async (after) => {
      const page = await project.tasks('failed', { limit: 2, after });
      const next = left.shift();
      if (next !== undefined) await project.update(next.id, { content: 'corrected' });
      await project.import([imported({ status: 'failed', createdAt: 100 })]);
      return page;
    });
    const seen = pages.flat().map(({ id }) => id);
    expect(new Set(seen).size).toBe(seen.length);
    for (const { id } of kept) expect(seen).toContain(id);
    expect(seen.length).toBeLessThan(given.length);
  });

  test('are those of the project, and of the user of a bound key, unless they have expired', async () => {
    const other = await newProject(opened);
    for (const status of ['processing', 'failed'] as const) {
      const [u, v] = [imported({ status, expiresAt: 3_000 }), imported({ userId: 'v', status })];
      await project.import([u, v]);
      await other.import([imported({ status })]);
      expect((await ids(status)).sort()).toEqual([u.id, v.id].sort());
      expect(await ids(status, { onlyUserId: 'u', now: 2_999 })).toEqual([u.id]);
      expect(await ids(status, { onlyUserId: 'u', now: 3_000 })).toEqual([]);
    }
  });

  test('with large texts are on shorter pages', async () => {
    const large = Array.from({ length: 5 }, (_, n) =>
      imported({ status: 'failed', createdAt: n, content: '語'.repeat(500_000) }),
    );
    await project.import(large);
    const pages = await walk((after) => project.tasks('failed', { limit: 100, after }));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toHaveLength(5);
  });
}
