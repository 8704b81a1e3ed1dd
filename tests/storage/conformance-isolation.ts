import { describe, expect, test } from 'bun:test';
import type { WriteResult } from '../../server/storage/types/memories.ts';
import { rejectionOf } from '../support/thrown.ts';
import {
  bodyOf,
  imported,
  keyed,
  memory,
  newProject,
  type OpenStorage,
  type Project,
  record,
} from './fixtures.ts';
import { opened, project, withStorage } from './suite.ts';

/** Tests that a write affects no other project, user or write. */
export function testIsolation(name: string, open: OpenStorage): void {
  describe(`${name}: isolation`, () => {
    withStorage(open);

    test('a memory is not deleted with the memory of the same id in another project', async () => {
      const other = await newProject(opened);
      await project.save(memory({ id: 'mem_same', content: 'one' }));
      await other.save(memory({ id: 'mem_same', content: 'two' }));
      await other.remove('mem_same');
      expect(await project.get('mem_same')).toMatchObject({ content: 'one' });
    });

    test('changes do not affect a memory with the same id in another project', async () => {
      const other = await newProject(opened);
      const externalKey = { source: 's', externalId: 'e' };
      const given = memory(externalKey);
      await project.save(given);
      await other.save(given);
      const before = await other.get(given.id);
      await project.update(given.id, { content: 'updated', metadata: '{"a":1}' });
      await project.save(memory({ ...externalKey, content: 'replaced' }));
      await project.accept([record({ ...externalKey, content: 'ingested' })]);
      expect(await project.get(given.id)).toMatchObject({ content: 'ingested', version: 4 });
      expect(await other.get(given.id)).toEqual(before);
    });

    test('an update responds with its own memory if another project has one with the same id', async () => {
      const other = await newProject(opened);
      const externalKey = { source: 's', externalId: 'e' };
      await other.save(memory({ ...externalKey, id: 'mem_both', content: 'theirs' }));
      await project.save(memory({ ...externalKey, id: 'mem_both', content: 'ours' }));
      const updated = await project.update('mem_both', { content: 'ours again' });
      expect(bodyOf(updated)).toMatchObject({ content: 'ours again', version: 2 });
      const replaced = await project.save(memory({ ...externalKey, content: 'ours at last' }));
      expect(bodyOf(replaced)).toMatchObject({ content: 'ours at last', version: 3 });
      expect(await other.get('mem_both')).toMatchObject({ content: 'theirs', version: 1 });
    });

    test('an erasure keeps the tasks of other users, and of the same id in another project', async () => {
      const [mine, theirs] = [record(), record({ userId: 'v' })];
      const other = await newProject(opened);
      await project.accept([mine, theirs]);
      await other.accept([record({ id: mine.id })]);
      await project.erase();
      expect((await opened.storage.taskQueueState()).pending).toBe(2);
      expect(await project.get(theirs.id)).toMatchObject({ status: 'processing' });
      expect(await other.get(mine.id)).toMatchObject({ status: 'processing' });
    });

    test('an update of a memory completes no other task', async () => {
      const [id = '', waiting = '', foreign = ''] = await project.accept([
        record(),
        record(),
        record({ userId: 'v' }),
      ]);
      const theirs = await newProject(opened);
      await theirs.accept([record({ id })]);
      await project.update(id, { content: 'newer' });
      expect(await project.get(id)).toMatchObject({ status: 'complete' });
      for (const other of [waiting, foreign]) {
        expect(await project.get(other)).toMatchObject({ status: 'processing' });
      }
      expect(await theirs.get(id)).toMatchObject({ status: 'processing' });
      expect((await opened.storage.taskQueueState()).pending).toBe(3);
    });

    test('the responses to updates under one key are separate for each project and scope', async () => {
      const theirs = await newProject(opened);
      for (const one of [project, theirs]) await one.save(memory({ id: 'mem_known' }));
      const update = (one: Project, content: string, scope: string) => {
        return one.update('mem_known', { content }, { idempotency: keyed('k', { scope }) });
      };
      const updates = [
        () => update(project, 'one', ''),
        () => update(project, 'two', 'ada'),
        () => update(theirs, 'three', ''),
      ];
      const first: WriteResult[] = [];
      for (const run of updates) first.push(await run());
      expect(first.map(({ changedUserId }) => changedUserId)).toEqual(['u', 'u', 'u']);
      for (const [index, run] of updates.entries()) {
        expect<unknown>(await run()).toEqual({ response: first[index]?.response, replayed: true });
      }
    });

    test('a write gets its own response if the write before it is rejected', async () => {
      const given = memory();
      const rejected = rejectionOf(project.remove('mem_unknown'));
      const saved = await project.save(given);
      expect(bodyOf(saved)).toMatchObject({ id: given.id, content: given.content });
      expect(await rejected).toMatchObject({ code: 'not_found' });
    });

    test("changes in one project do not affect a user's memory count in another", async () => {
      const other = await newProject(opened);
      await project.save(memory());
      await other.save(memory({ externalId: 'saved' }));
      await other.accept([record({ externalId: 'ingested' })]);
      await other.import([imported()]);
      const counts = [
        [project, 1],
        [other, 3],
      ] as const;
      for (const [own, memories] of counts) {
        expect((await own.users()).items).toMatchObject([{ userId: 'u', memories }]);
      }
    });
  });
}
