import { expect, test } from 'bun:test';
import type { StoredMemory } from '../../server/storage/types/memories.ts';
import { until } from '../support/until.ts';
import { claim, imported } from './fixtures.ts';
import { externalKey, many, opened, project } from './suite.ts';

/** Tests import and export. */
export function testTransfer(): void {
  test('an imported memory that has expired takes neither its id nor its external id', async () => {
    const expired = imported({ ...externalKey, expiresAt: 1_000 });
    const other = imported({ ...externalKey, expiresAt: 1_000 });
    const lasting = { ...expired, expiresAt: null, content: 'lasting' };
    const counts = async (memories: StoredMemory[]) => {
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
}
