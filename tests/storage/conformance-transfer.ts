import { describe, expect, test } from 'bun:test';
import type { ImportedMemory } from '../../server/storage/types.ts';
import { until } from '../support/until.ts';
import {
  claim,
  imported,
  memory,
  newProject,
  type Opened,
  type OpenStorage,
  type Project,
  record,
  walk,
} from './fixtures.ts';
import { withStorage } from './suite.ts';

const many = (count: number, userId = 'u') =>
  Array.from({ length: count }, (_, n) => imported({ userId, createdAt: n }));

/** Tests import and export. */
export function testTransfer(name: string, open: OpenStorage): void {
  describe(`${name}: import and export`, () => {
    let opened: Opened;
    let project: Project;
    withStorage(open, (...given) => {
      [opened, project] = given;
    });

    test('an import keeps ids, times, types, versions and status as given', async () => {
      const given = imported({
        type: 'ticket',
        source: 's',
        externalId: 'e',
        metadata: '{"a":1}',
        version: 7,
        occurredAt: -3,
        expiresAt: 9_000,
      });
      const report = { imported: 1, skipped: 0, failedCount: 0, failed: [] };
      expect(await project.import([given])).toEqual(report);
      expect(await project.get(given.id)).toEqual(given);
      expect(await project.search('hello')).toMatchObject([{ id: given.id, version: 7 }]);
    });

    test('an import skips ids that exist, and fails items whose external id is in use', async () => {
      const externalKey = { source: 's', externalId: 'e' };
      const first = imported({ ...externalKey, content: 'first' });
      await project.import([first]);
      const again = imported({ id: first.id, content: 'again' });
      const conflict = imported(externalKey);
      const twice = imported({ source: 's', externalId: 'f' });
      const batch = [again, conflict, twice, imported({ source: 's', externalId: 'f' }), twice];
      const { failed, ...counts } = await project.import(batch);
      expect(counts).toEqual({ imported: 1, skipped: 2, failedCount: 2 });
      expect(failed).toEqual([
        { index: 1, error: 'invalid_request', message: expect.stringContaining('externalId') },
        { index: 3, error: 'invalid_request', message: expect.stringContaining('externalId') },
      ]);
      expect(await project.get(first.id)).toMatchObject({
        ...externalKey,
        content: 'first',
        version: 1,
      });
      expect(await project.list()).toHaveLength(2);
    });

    test('an imported memory that has expired takes neither its id nor its external id', async () => {
      const externalKey = { source: 's', externalId: 'e' };
      const expired = imported({ ...externalKey, expiresAt: 1_000 });
      const other = imported({ ...externalKey, expiresAt: 1_000 });
      const lasting = { ...expired, expiresAt: null, content: 'lasting' };
      const counts = async (memories: ImportedMemory[]) => {
        const { failed: _, ...report } = await project.import(memories, { at: 1_000 });
        return report;
      };
      const none = { skipped: 0, failedCount: 0 };
      expect(await counts([expired, expired, other])).toEqual({ imported: 3, ...none });
      expect((await project.users()).items).toEqual([]);
      const once = { imported: 3, skipped: 1, failedCount: 0 };
      expect(await counts([expired, lasting, expired, other])).toEqual(once);
      expect(await counts([other])).toEqual({ imported: 1, ...none });
      expect(await project.list()).toMatchObject([{ id: lasting.id, content: 'lasting' }]);
      expect((await project.users()).items).toMatchObject([{ memories: 1 }]);
    });

    test('two imports of the same ids at the same time import each memory once', async () => {
      for (let round = 0; round < 10; round += 1) {
        const memories = many(50);
        const importFor = (userId: string) =>
          project.import(memories.map((one) => ({ ...one, userId })));
        const reports = await Promise.all(['u', 'v'].map(importFor));
        const counts = reports.map(({ imported, skipped }) => `${imported} ${skipped}`);
        expect(counts.sort()).toEqual(['0 50', '50 0']);
      }
    });

    test('an import includes earlier failures in its report, in index order', async () => {
      const failed = [{ index: 2, error: 'invalid_request', message: 'no' }];
      const externalKey = { source: 's', externalId: 'e' };
      await project.import([imported(externalKey)]);
      const { response } = await opened.storage.importMemories({
        projectId: project.id,
        at: 1_000,
        idempotency: null,
        memories: [imported(), imported(externalKey)],
        batch: { indexes: [0, 3], failed },
      });
      const report = JSON.parse(response.body);
      expect(report).toMatchObject({ imported: 1, skipped: 0, failedCount: 2 });
      expect(report.failed.map(({ index }: { index: number }) => index)).toEqual([2, 3]);
    });

    test('an import queues memories that are processing, and failed memories stay failed', async () => {
      const [waits, failed] = [imported({ status: 'processing' }), imported({ status: 'failed' })];
      await project.import([waits, failed], { at: 9_000 });
      expect(await project.get(waits.id)).toMatchObject({ status: 'processing', createdAt: 5 });
      expect(await project.get(failed.id)).toEqual(failed);
      const state = { pending: 1, running: 0, oldestAcceptedAt: 9_000 };
      expect(await opened.storage.taskQueueState()).toMatchObject(state);
      const tasks = await claim(opened.storage, { now: 9_000 });
      expect(tasks.map(({ memoryId }) => memoryId)).toEqual([waits.id]);
      expect(await project.search('hello')).toEqual([]);
    });

    test('a large batch is visible to every read completely or not at all', async () => {
      const importing = project.import(many(1_000));
      let isImported = false;
      importing.then(() => {
        isImported = true;
      });
      const seen = new Set<number>();
      await until(async () => {
        seen.add((await project.list()).length);
        seen.add((await project.exportPage()).items.length);
        return isImported;
      });
      await importing;
      expect([...seen].filter((count) => count !== 0 && count !== 1_000)).toEqual([]);
      expect(await project.list()).toHaveLength(1_000);
    });

    test('an export returns every memory of the project once, and no other', async () => {
      const other = await newProject(opened);
      await other.save(memory());
      const ids: string[] = [];
      for (let n = 0; n < 7; n += 1) {
        const given = memory({ userId: n % 2 === 0 ? 'v' : 'u' });
        await project.save(given);
        ids.push(given.id);
      }
      for (const limit of [1, 2, 7, 8]) {
        const pages = await walk((after) => project.exportPage({ after, limit }));
        const seen = pages.flat().map(({ id }) => id);
        expect(seen.sort()).toEqual(ids.sort());
        expect(pages).toHaveLength(Math.ceil(7 / limit));
      }
      const own = { onlyUserId: 'u', limit: 2 };
      const pages = await walk((after) => project.exportPage({ ...own, after }));
      expect(pages.map((page) => page.map(({ userId }) => userId))).toEqual([['u', 'u'], ['u']]);
    });

    test('an export can be imported elsewhere, with identical memories', async () => {
      await project.save(memory({ source: 's', externalId: 'e', occurredAt: 4 }));
      await project.accept([record({ metadata: '{"a":[1]}' })]);
      const { items } = await project.exportPage();
      const other = await newProject(opened);
      const at = (time: string | null) => (time === null ? null : Date.parse(time));
      const again = items.map((item) => ({
        ...item,
        metadata: JSON.stringify(item.metadata),
        occurredAt: at(item.occurredAt),
        expiresAt: at(item.expiresAt),
        createdAt: Date.parse(item.createdAt),
        updatedAt: Date.parse(item.updatedAt),
      }));
      expect(await other.import(again)).toMatchObject({ imported: 2, failedCount: 0 });
      expect((await other.exportPage()).items).toEqual(items);
    });

    test('an export of many texts with three bytes per character is complete', async () => {
      const content = '語'.repeat(4_000);
      await project.import(Array.from({ length: 700 }, () => imported({ content })));
      const pages = await walk((after) => project.exportPage({ after, limit: 1_000 }));
      expect(pages.flat()).toHaveLength(700);
    });
  });
}
