import { describe, expect, test } from 'bun:test';
import type { Deleted } from '../../sdk/contract/transfer.ts';
import { until } from '../support/until.ts';
import {
  bodyOf,
  claim,
  deletedBody,
  imported,
  keyed,
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

/** Tests operations on whole users and projects: erasure, import and export. */
export function testTransfer(name: string, open: OpenStorage): void {
  describe(`${name}: the erasure of a user`, () => {
    let opened: Opened;
    let project: Project;
    withStorage(open, (...given) => {
      [opened, project] = given;
    });

    const deleted = async (erasure: ReturnType<Project['erase']>) => {
      return bodyOf<Deleted>(await erasure).deleted;
    };

    test('removes all data of the user, and no data of other users', async () => {
      const [mine, theirs] = [memory(), memory({ userId: 'v' })];
      const idempotency = keyed('k');
      await project.save(mine, { idempotency });
      await project.save(theirs);
      const other = await newProject(opened);
      await other.save(memory());
      await project.accept([record()]);
      expect(await deleted(project.erase())).toBe(2);
      expect(await project.list()).toEqual([]);
      expect(await project.search('hello')).toEqual([]);
      expect(await project.get(mine.id)).toBeNull();
      expect((await opened.storage.taskQueueState()).pending).toBe(0);
      expect((await project.users()).items).toMatchObject([{ userId: 'v', memories: 1 }]);
      expect(await other.list()).toHaveLength(1);
      const { response } = await project.save(mine, { idempotency });
      expect(response.body).toBe(deletedBody(mine.id));
    });

    test('of a user without memories counts zero', async () => {
      expect(await deleted(project.erase('nobody'))).toBe(0);
    });

    test('of thousands of memories counts all of them, and its replay is equal', async () => {
      await project.import(many(2_600));
      await project.import(many(7, 'v'));
      const idempotency = keyed('k');
      const first = await project.erase('u', { idempotency });
      expect(first).toMatchObject({ response: { status: 200, body: '{"deleted":2600}' } });
      expect((await project.users()).items).toMatchObject([{ userId: 'v', memories: 7 }]);
      await project.import(many(1));
      expect(await project.erase('u', { idempotency })).toEqual({ ...first, replayed: true });
      expect(await project.list()).toHaveLength(1);
    });

    // On a busy machine, a single save can take as long as the erasure, so the test is retried.
    test(
      'of thousands of memories does not block other writes',
      async () => {
        await project.import(many(5_000));
        let isErased = false;
        const erasing = project.erase().finally(() => {
          isErased = true;
        });
        let saved = 0;
        while (!isErased) {
          await project.save(memory({ userId: 'v' }));
          saved += 1;
        }
        expect(await deleted(erasing)).toBe(5_000);
        // With more than two saves, at least one was committed before the erasure ended.
        expect(saved).toBeGreaterThan(2);
        expect(await project.list('v')).toHaveLength(saved);
      },
      { retry: 2 },
    );

    test('counts the removed memories, even during concurrent writes to the user', async () => {
      await project.import(many(3_000));
      let isErased = false;
      const erasing = project.erase().finally(() => {
        isErased = true;
      });
      let saved = 0;
      while (!isErased) {
        await project.save(memory());
        saved += 1;
      }
      const count = await deleted(erasing);
      const left = await project.list();
      expect(count + left.length).toBe(3_000 + saved);
      const { items } = await project.users();
      expect(items[0]?.memories ?? 0).toBe(left.length);
      expect(await project.search('hello', { limit: 100 })).toHaveLength(
        Math.min(100, left.length),
      );
    });

    test('sent twice concurrently under one key has one response, which counts all memories', async () => {
      await project.import(many(1_300));
      const erase = () => deleted(project.erase('u', { idempotency: keyed('k') }));
      expect(await Promise.all([erase(), erase()])).toEqual([1_300, 1_300]);
    });

    test('sent twice concurrently under two keys counts each memory once', async () => {
      await project.import(many(1_300));
      const erase = (key: string) => deleted(project.erase('u', { idempotency: keyed(key) }));
      const [first = 0, second = 0] = await Promise.all([erase('a'), erase('b')]);
      expect(first + second).toBe(1_300);
    });

    test('interrupted by a close is complete or not acknowledged', async () => {
      await project.import(many(2_600));
      const erasing = project.erase('u', { idempotency: keyed('k') }).catch(() => null);
      await opened.reopen();
      const erased = await erasing;
      const left = (await project.list()).length;
      expect((await project.users()).items[0]?.memories ?? 0).toBe(left);
      if (erased !== null) expect(left).toBe(0);
      await project.erase('u', { idempotency: keyed('k') });
      expect(await project.list()).toEqual([]);
    });
  });

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
      const origin = { source: 's', externalId: 'e' };
      const first = imported({ ...origin, content: 'first' });
      await project.import([first]);
      const again = imported({ id: first.id, content: 'again' });
      const conflict = imported(origin);
      const twice = imported({ source: 's', externalId: 'f' });
      const batch = [again, conflict, twice, imported({ source: 's', externalId: 'f' }), twice];
      const { failed, ...counts } = await project.import(batch);
      expect(counts).toEqual({ imported: 1, skipped: 2, failedCount: 2 });
      expect(failed).toEqual([
        { index: 1, error: 'invalid_request', message: expect.stringContaining('externalId') },
        { index: 3, error: 'invalid_request', message: expect.stringContaining('externalId') },
      ]);
      expect(await project.get(first.id)).toMatchObject({ content: 'first', version: 1 });
      expect(await project.list()).toHaveLength(2);
    });

    test('an import includes earlier failures in its report, in index order', async () => {
      const failed = [{ index: 2, error: 'invalid_request', message: 'no' }];
      const origin = { source: 's', externalId: 'e' };
      await project.import([imported(origin)]);
      const { response } = await opened.storage.importMemories({
        projectId: project.id,
        at: 1_000,
        idempotency: null,
        memories: [imported(), imported(origin)],
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
      const state = { pending: 1, oldestAcceptedAt: 9_000 };
      expect(await opened.storage.taskQueueState()).toEqual(state);
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
  });
}
