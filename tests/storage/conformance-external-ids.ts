import { describe, expect, test } from 'bun:test';
import { limits } from '../../sdk/contract/limits.ts';
import { rejectionOf } from '../support/thrown.ts';
import { memory, type Opened, type OpenStorage, type Project, record } from './fixtures.ts';
import { withStorage } from './suite.ts';

/** Tests that a thing in another system is stored as one memory. */
export function testExternalIds(name: string, open: OpenStorage): void {
  describe(`${name}: a save with an external id`, () => {
    let opened: Opened;
    let project: Project;
    const externalKey = { source: 's', externalId: 'e' };
    withStorage(open, (...given) => {
      [opened, project] = given;
    });

    test('replaces the memory with that external id, and keeps its id and creation time', async () => {
      const first = memory({ ...externalKey, content: 'old', metadata: '{"a":1}', occurredAt: 3 });
      expect((await project.save(first, { at: 10 })).response.status).toBe(201);
      const second = memory({ ...externalKey, content: 'new', expiresAt: 9_000 });
      const { response } = await project.save(second, { at: 20 });
      const stored = { ...second, id: first.id, status: 'complete', version: 2 } as const;
      expect(await project.get(first.id)).toEqual({ ...stored, createdAt: 10, updatedAt: 20 });
      expect(response).toMatchObject({ status: 200, memoryId: first.id, version: 2 });
      expect(JSON.parse(response.body)).toMatchObject({ memoryId: first.id, content: 'new' });
      expect(await project.get(second.id)).toBeNull();
      expect(await project.list()).toHaveLength(1);
    });

    test('that expects a version succeeds only if there is a memory at that version', async () => {
      const save = (content: string, expectedVersion: number | 'any') =>
        project.save(memory({ ...externalKey, content }), { expectedVersion });
      const failed = { code: 'precondition_failed' };
      expect(await rejectionOf(save('old', 1))).toMatchObject(failed);
      expect(await rejectionOf(save('old', 'any'))).toMatchObject(failed);
      expect(await project.list()).toEqual([]);
      const first = memory(externalKey);
      await project.save(first);
      expect(await rejectionOf(save('new', 2))).toMatchObject(failed);
      expect(await project.get(first.id)).toMatchObject({ content: 'hello', version: 1 });
      const results = await Promise.allSettled(['a', 'b', 'c'].map((content) => save(content, 1)));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await save('new', 'any');
      expect(await project.get(first.id)).toMatchObject({ content: 'new', version: 3 });
    });

    test('tells apart sources and external ids of any length', async () => {
      const long = 'x'.repeat(limits.nameCharacters - 1);
      const pairs = [
        ['s', 'ee'],
        ['se', 'e'],
        [null, 'see'],
        ['1 s', 'ee'],
        ['s', `${long}1`],
        ['s', `${long}2`],
        [`${long}1`, 'e'],
        [`${long}2`, 'e'],
      ] as const;
      for (const status of [201, 200]) {
        for (const [source, externalId] of pairs) {
          const { response } = await project.save(
            memory({ source, externalId, content: `${status}` }),
          );
          expect(response.status).toBe(status);
        }
      }
    });

    test('turns an ingested record into a saved memory, and drops its task', async () => {
      const [id = ''] = await project.accept([record({ ...externalKey, type: 'ticket' })]);
      await project.save(memory({ ...externalKey, content: 'by hand' }));
      expect(await project.get(id)).toMatchObject({ type: 'memory', status: 'complete' });
      expect(await project.status(id)).toMatchObject({ status: 'complete', chunksTotal: 1 });
      expect((await opened.storage.taskQueueState()).pending).toBe(0);
      expect(await project.search('hand')).toMatchObject([{ id }]);
    });

    test('reports the number of chunks of a long text that was not ingested', async () => {
      const long = memory({ content: 'A sentence of a long text. '.repeat(10_000) });
      await project.save(long);
      expect((await project.status(long.id))?.chunksTotal).toBeGreaterThan(100);
    });

    test('creates one memory from twenty concurrent saves', async () => {
      const saves = Array.from({ length: 20 }, (_, n) => {
        return project.save(memory({ ...externalKey, content: `${n}` }));
      });
      const statuses = (await Promise.all(saves)).map(({ response }) => response.status).sort();
      expect(statuses).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
      const [only, ...more] = await project.list();
      expect(only).toMatchObject({ version: 20 });
      expect(more).toEqual([]);
    });
  });
}
