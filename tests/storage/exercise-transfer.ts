import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { indexPassages } from '../../server/memory/passages.ts';
import type { ImportedMemory, Storage } from '../../server/storage/storage.ts';
import type { Opened } from './exercise.ts';
import {
  accept,
  list,
  memory,
  passagesOf,
  projectId,
  record,
  remove,
  save,
  storeStep,
  update,
} from './fixtures.ts';

/** Whole users at a time, and what search reads. */
export function exerciseTransfer(name: string, open: () => Promise<Opened>): void {
  describe(`${name}: whole users`, () => {
    let opened: Opened;
    let storage: Storage;
    beforeEach(async () => {
      opened = await open();
      storage = opened.storage;
    });
    afterEach(() => opened.dispose());

    const answer = (outcome: unknown) => ({ status: 200, body: JSON.stringify(outcome) });
    const common = { projectId, at: 9_000, idempotency: null, answer };

    function written(fields: Partial<ImportedMemory> = {}): ImportedMemory {
      const times = { createdAt: 5, updatedAt: 7 };
      return { ...memory(), status: 'complete', ...times, ...fields };
    }

    async function take(...memories: ImportedMemory[]) {
      const { answer: given } = await storage.importMemories({ ...common, memories });
      return JSON.parse(given.body);
    }

    async function words(userId: string): Promise<string[]> {
      return (await passagesOf(storage, userId)).map(({ folded }) => folded);
    }

    test('a lease from before a delete does not fit the memory that is imported under its id', async () => {
      const given = record({ content: 'old' });
      await accept(storage, [given]);
      const due = { now: 2_000, horizon: 60_000, limit: 1 };
      const [old] = await storage.claimJobs(due);
      await remove(storage, given.id);
      await take(written({ id: given.id, type: 'document', content: 'new', status: 'processing' }));
      const [job] = await storage.claimJobs(due);
      if (old === undefined || job === undefined) throw new Error('no job is due');
      const step = { now: 3_000, first: 0, total: 1 };
      const stale = { ...old, ...step, passages: [{ start: 0, length: 3, folded: 'old' }] };
      expect(await storeStep(storage, stale)).toBe(false);
      const fresh = { ...job, ...step, passages: [{ start: 0, length: 3, folded: 'new' }] };
      expect(await storeStep(storage, fresh)).toBe(true);
      expect(await words('u')).toEqual(['new']);
    });

    test('erasing a user removes it whole, and nothing of others', async () => {
      const [mine, theirs] = [memory(), memory({ userId: 'v' })];
      const idempotency = { key: 'k', fingerprint: 'f' };
      await save(storage, mine, { idempotency });
      await save(storage, theirs);
      await save(storage, memory(), { projectId: 2 });
      await accept(storage, [record()]);
      const erased = await storage.deleteAllMemories({ ...common, userId: 'u' });
      expect(erased.answer.body).toBe('2');
      expect(await list(storage)).toEqual([]);
      expect(await words('u')).toEqual([]);
      expect((await storage.queueState()).pending).toBe(0);
      expect((await list(storage, { userId: 'v' })).length).toBe(1);
      expect((await list(storage, { projectId: 2 })).length).toBe(1);
      const replay = await save(storage, mine, { idempotency });
      const cut = { id: mine.id, memoryId: mine.id, deleted: true };
      expect(replay.answer.body).toBe(JSON.stringify(cut));
    });

    test('erasing is replayed, and erasing nobody is 0', async () => {
      const idempotency = { key: 'e', fingerprint: 'f' };
      await save(storage, memory());
      const erase = () => storage.deleteAllMemories({ ...common, idempotency, userId: 'u' });
      expect((await erase()).answer.body).toBe('1');
      await save(storage, memory());
      expect(await erase()).toEqual({ answer: { status: 200, body: '1' }, replayed: true });
      expect((await list(storage)).length).toBe(1);
      const none = await storage.deleteAllMemories({ ...common, userId: 'nobody' });
      expect(none.answer.body).toBe('0');
    });

    test('an import keeps what it is given, and skips what is there', async () => {
      const given = written({ type: 'ticket', source: 's', externalId: 'e', metadata: '{"a":1}' });
      expect(await take(given)).toEqual(['imported']);
      const { passages: _, ...fields } = given;
      expect(await storage.getMemory(projectId, given.id)).toEqual(fields);
      expect(await take({ ...given, content: 'other' })).toEqual(['skipped']);
      expect((await storage.getMemory(projectId, given.id))?.content).toBe('hello');
      const same = written({ source: 's', externalId: 'e' });
      expect(await take(same)).toEqual(['taken']);
    });

    test('what is imported as processing is queued, as failed stays failed', async () => {
      const [waits, failed] = [written({ status: 'processing' }), written({ status: 'failed' })];
      expect(await take(waits, failed)).toEqual(['imported', 'imported']);
      const statuses = (await list(storage)).map(({ status }) => status).sort();
      expect(statuses).toEqual(['failed', 'processing']);
      const jobs = await storage.claimJobs({ now: 9_000, horizon: 9_000 + 60_000, limit: 9 });
      expect(jobs.map(({ memoryId }) => memoryId)).toEqual([waits.id]);
    });

    test('what is imported as processing waits from now on, whenever it was changed', async () => {
      const waits = written({ status: 'processing', createdAt: 5, updatedAt: 6 });
      expect(await take(waits)).toEqual(['imported']);
      expect(await storage.queueState()).toEqual({ pending: 1, oldestAcceptedAt: common.at });
      expect(await list(storage)).toMatchObject([{ createdAt: 5, updatedAt: 6 }]);
    });

    test('an export walks the project in the order of ids, and no other', async () => {
      for (let n = 0; n < 7; n += 1) {
        await save(storage, memory({ id: `mem_${(n * 5) % 7}`, userId: n % 2 ? 'v' : 'u' }));
      }
      await save(storage, memory(), { projectId: 2 });
      const ids: string[] = [];
      for (;;) {
        const range = { projectId, after: ids.at(-1) ?? null, limit: 2 };
        const page = await storage.exportMemories(range);
        if (page.length === 0) break;
        ids.push(...page.map(({ id }) => id));
      }
      expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `mem_${n}`));
    });

    test('search reads what was stored, in order, and what changed is gone', async () => {
      const texts = ['first of all', 'and the second'];
      for (const content of texts) {
        await save(storage, memory({ content, passages: indexPassages(content, '{}') }));
      }
      const passages = await passagesOf(storage, 'u');
      expect(passages.map(({ folded }) => folded)).toEqual(texts);
      const [first, second] = passages;
      if (first === undefined || second === undefined) throw new Error('two passages were stored');
      expect(second.memory).toBeGreaterThan(first.memory);
      const found = await storage.getPassage(projectId, 'u', first);
      expect(found).toMatchObject({ memory: { content: texts[0] }, start: 0, length: 12 });
      expect(await storage.getPassage(projectId, 'u', { ...first, ordinal: 9 })).toBeNull();
      expect(await storage.getPassage(projectId, 'somebody else', first)).toBeNull();
      expect(await storage.getPassage(2, 'u', first)).toBeNull();
      await update(storage, found?.memory.id ?? '', 'anew');
      expect(await words('u')).toEqual(['anew', 'and the second']);
    });
  });
}
