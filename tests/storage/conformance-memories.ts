import { describe, expect, test } from 'bun:test';
import { rejectionOf } from '../support/thrown.ts';
import {
  bodyOf,
  imported,
  memory,
  newProject,
  type Opened,
  type OpenStorage,
  type Project,
  record,
} from './fixtures.ts';
import { withStorage } from './suite.ts';

/** Tests operations on single memories: save, get, update, delete, and versions. */
export function testMemories(name: string, open: OpenStorage): void {
  describe(`${name}: memories`, () => {
    let opened: Opened;
    let project: Project;
    withStorage(open, (...given) => {
      [opened, project] = given;
    });

    test('a saved memory is returned unchanged, even after reopening the storage', async () => {
      const times = { occurredAt: -5, expiresAt: 9_000 };
      const given = memory({ content: 'naïve 🙂\n', metadata: '{"a":[1,"x"]}', ...times });
      const { response } = await project.save(given, { at: 7 });
      const stored = { status: 'complete', version: 1, createdAt: 7, updatedAt: 7 } as const;
      expect(await project.get(given.id)).toEqual({ ...given, ...stored });
      expect(response).toMatchObject({ status: 201, memoryId: given.id, version: 1 });
      const [listed] = await project.list();
      expect(bodyOf({ response, replayed: false })).toEqual({
        ...(listed ?? expect.anything()),
        memoryId: given.id,
      });
      await opened.reopen();
      expect(await project.get(given.id)).toEqual({ ...given, ...stored });
    });

    test('a memory of one project cannot be read, changed or deleted from another', async () => {
      const given = memory({ source: 's', externalId: 'e' });
      await project.save(given);
      const other = await newProject(opened);
      expect(await other.get(given.id)).toBeNull();
      expect(await other.status(given.id)).toBeNull();
      expect(await other.statuses([given.id])).toEqual([]);
      expect(await other.list()).toEqual([]);
      expect((await other.exportPage()).items).toEqual([]);
      expect((await other.users()).items).toEqual([]);
      expect(await other.search('hello')).toEqual([]);
      const missing = { code: 'not_found' };
      expect(await rejectionOf(other.update(given.id, { content: 'x' }))).toMatchObject(missing);
      expect(await rejectionOf(other.remove(given.id))).toMatchObject(missing);
      expect(bodyOf<object>(await other.erase())).toEqual({ deleted: 0 });
      const same = memory({ source: 's', externalId: 'e' });
      expect((await other.save(same)).response.status).toBe(201);
      expect(await project.get(given.id)).toMatchObject({ content: 'hello', version: 1 });
    });

    test('a read for one user does not see the memories of another', async () => {
      const given = memory({ userId: 'ada' });
      await project.save(given);
      const filter = { type: 'memory' } as const;
      for (const [onlyUserId, seen] of [
        ['ada', 1],
        ['ben', 0],
      ] as const) {
        const read = { onlyUserId };
        expect((await project.get(given.id, read)) === null ? 0 : 1).toBe(seen);
        expect((await project.status(given.id, read)) === null ? 0 : 1).toBe(seen);
        expect(await project.statuses([given.id], read)).toHaveLength(seen);
        expect((await project.exportPage(read)).items).toHaveLength(seen);
        expect((await project.users(read)).items).toHaveLength(seen);
        expect(await project.list('ada', read)).toHaveLength(seen);
        expect(await project.list('ada', { ...read, filter })).toHaveLength(seen);
        expect(await project.search('hello', { ...read, userId: 'ada' })).toHaveLength(seen);
      }
    });

    test('a write for one user does not change the memories of another', async () => {
      const given = memory({ userId: 'ada' });
      await project.save(given);
      const others = { onlyUserId: 'ben' };
      const missing = { code: 'not_found' };
      const update = project.update(given.id, { content: 'stolen' }, others);
      expect(await rejectionOf(update)).toMatchObject(missing);
      expect(await rejectionOf(project.remove(given.id, others))).toMatchObject(missing);
      expect(await project.get(given.id)).toMatchObject({ content: 'hello', version: 1 });
      const own = { onlyUserId: 'ada' };
      await project.update(given.id, { content: 'own' }, own);
      expect(await project.get(given.id)).toMatchObject({ content: 'own', version: 2 });
      await project.remove(given.id, own);
      expect(await project.get(given.id)).toBeNull();
    });

    test('an update replaces the given fields and keeps the others', async () => {
      const given = memory({ metadata: '{"a":1}', occurredAt: 5, expiresAt: 9_000 });
      await project.save(given, { at: 1 });
      const before = { ...given, status: 'complete', createdAt: 1 };
      const steps = [
        [{ content: 'new' }, { content: 'new' }],
        [{ metadata: '{"b":2}' }, { metadata: '{"b":2}' }],
        [{ occurredAt: null }, { occurredAt: null }],
        [
          { occurredAt: 6, expiresAt: null },
          { occurredAt: 6, expiresAt: null },
        ],
        [{ expiresAt: 9_999 }, { expiresAt: 9_999 }],
      ] as const;
      let expected = before;
      for (const [index, [changes, changed]] of steps.entries()) {
        const { response } = await project.update(given.id, changes, { at: index + 2 });
        expected = { ...expected, ...changed };
        const stored = await project.get(given.id);
        const counted = { version: index + 2, updatedAt: index + 2 };
        expect(stored as object).toEqual({ ...expected, ...counted });
        expect(response).toMatchObject({ status: 200, memoryId: given.id, version: index + 2 });
        expect(JSON.parse(response.body)).toEqual((await project.list())[0] ?? {});
      }
    });

    test('updatedAt never decreases, even if the clock is set back', async () => {
      const given = memory({ source: 's', externalId: 'e' });
      await project.save(given, { at: 900 });
      await project.update(given.id, { content: 'x' }, { at: 100 });
      expect(await project.get(given.id)).toMatchObject({ content: 'x', updatedAt: 900 });
      await project.save(memory({ source: 's', externalId: 'e' }), { at: 100 });
      expect(await project.get(given.id)).toMatchObject({ content: 'hello', updatedAt: 900 });
    });

    test('times before 1970 are kept', async () => {
      const given = imported({ createdAt: -9_000, updatedAt: -8_000, occurredAt: -7_000 });
      await project.import([given]);
      expect(await project.get(given.id)).toEqual(given);
      expect(await project.status(given.id)).toMatchObject({ updatedAt: -8_000 });
    });

    test('a change that expects another version fails and changes nothing', async () => {
      const given = memory();
      await project.save(given);
      await project.update(given.id, { content: 'second' });
      const stale = { expectedVersion: 1 };
      const failed = { code: 'precondition_failed' };
      expect(await rejectionOf(project.update(given.id, { content: 'x' }, stale))).toMatchObject(
        failed,
      );
      expect(await rejectionOf(project.remove(given.id, stale))).toMatchObject(failed);
      expect(await project.get(given.id)).toMatchObject({ content: 'second', version: 2 });
      await project.update(given.id, { content: 'third' }, { expectedVersion: 2 });
      await project.remove(given.id, { expectedVersion: 3 });
      expect(await project.get(given.id)).toBeNull();
    });

    test('exactly one of ten changes that expect the same version succeeds', async () => {
      const given = memory();
      await project.save(given);
      const changes = Array.from({ length: 10 }, (_, n) => {
        return project.update(given.id, { content: `${n}` }, { expectedVersion: 1 });
      });
      const settled = await Promise.allSettled(changes);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await project.get(given.id)).toMatchObject({ version: 2 });
    });

    test('a failed write is rolled back, and the other writes of the same commit are kept', async () => {
      const same = memory();
      await project.save(same);
      const results = await Promise.allSettled([
        project.save(memory()),
        project.remove('mem_none'),
        project.save(same),
        project.accept([record(), record(), same]),
        project.save(memory()),
      ]);
      const outcomes = results.map(({ status }) => (status === 'fulfilled' ? 'ok' : 'failed'));
      expect(outcomes).toEqual(['ok', 'failed', 'failed', 'failed', 'ok']);
      expect(await project.list()).toHaveLength(3);
      expect((await project.users()).items).toMatchObject([{ userId: 'u', memories: 3 }]);
    });

    test('close() commits every pending write', async () => {
      const given = Array.from({ length: 1_000 }, () => memory());
      const saves = Promise.allSettled(given.map((one) => project.save(one)));
      await opened.reopen();
      const lost = (await saves).filter(({ status }) => status === 'rejected');
      expect(lost).toHaveLength(0);
      expect(await project.list()).toHaveLength(1_000);
    });
  });
}
