import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { noFilter } from '../../server/memory/filter.ts';
import type { Filter, Storage } from '../../server/storage/storage.ts';
import { accept, list, memory, projectId, record, remove, save, update } from './fixtures.ts';

/** A database of its own; `reopen` closes and opens it again with what it holds. */
export type Opened = { storage: Storage; reopen(): Promise<Storage>; dispose(): Promise<void> };

/** What every backend must keep of the promises in storage.ts; memories and answers here. */
export function exerciseMemories(name: string, open: () => Promise<Opened>): void {
  describe(`${name}: memories`, () => {
    let opened: Opened;
    let storage: Storage;
    beforeEach(async () => {
      opened = await open();
      storage = opened.storage;
    });
    afterEach(() => opened.dispose());

    test('a saved memory is there as it was given, and after reopening', async () => {
      const given = memory({ content: 'naïve 🙂\n', metadata: '{"a":[1,"x"]}' });
      await save(storage, given, { at: 7 });
      const { passages: _, ...fields } = given;
      const expected = { ...fields, status: 'complete' as const, createdAt: 7, updatedAt: 7 };
      expect(await storage.getMemory(projectId, given.id)).toEqual(expected);
      storage = await opened.reopen();
      expect(await storage.getMemory(projectId, given.id)).toEqual(expected);
    });

    test('another project sees none of it', async () => {
      const given = memory();
      await save(storage, given);
      expect(await storage.getMemory(2, given.id)).toBeNull();
      expect(await storage.getStatus(2, given.id)).toBeNull();
      expect(await list(storage, { projectId: 2 })).toEqual([]);
      await expect(update(storage, given.id, 'x', { projectId: 2 })).rejects.toThrow('no memory');
      await expect(remove(storage, given.id, { projectId: 2 })).rejects.toThrow('no memory');
      expect((await storage.getMemory(projectId, given.id))?.content).toBe('hello');
    });

    test('a list is in order of creation, ties by id, both ways and across pages', async () => {
      const times = [5, 3, 5, 9, 5, 1, 3];
      for (const [index, at] of times.entries()) {
        await save(storage, memory({ id: `mem_${(index * 3) % 7}` }), { at });
      }
      await save(storage, memory({ userId: 'other' }), { at: 4 });
      const all = await list(storage, { order: 'asc' });
      const keys = all.map(({ createdAt, id }) => `${createdAt} ${id}`);
      expect(keys).toEqual([...keys].sort());
      expect(all.length).toBe(times.length);
      expect(await list(storage)).toEqual([...all].reverse());
      const walked = [];
      let page = await list(storage, { order: 'asc', limit: 2 });
      while (page.length > 0) {
        walked.push(...page);
        page = await list(storage, { order: 'asc', limit: 2, after: page.at(-1) ?? null });
      }
      expect(walked).toEqual(all);
    });

    test('a filter lets through what matches all of it', async () => {
      const filled = { source: 's', externalId: 'e', type: 'event' as const };
      const tags = '{"n":1,"b":true,"t":"x\\"y","l":["a",2],"o":{"n":1},"null":null}';
      await save(storage, memory({ ...filled, content: 'full', metadata: tags }));
      await save(storage, memory({ content: 'bare' }));
      const found = async (filter: Partial<Filter>) => {
        const page = await list(storage, { filter: { ...noFilter, ...filter } });
        return page.map(({ content }) => content).sort();
      };
      const full = ['full'];
      expect(await found({})).toEqual(['bare', 'full']);
      expect(await found({ type: 'event' })).toEqual(full);
      expect(await found({ type: 'ticket' })).toEqual([]);
      expect(await found({ source: 's', externalId: 'e' })).toEqual(full);
      expect(await found({ source: 's', externalId: 'f' })).toEqual([]);
      const matching = [
        ['n', '1'],
        ['b', 'true'],
        ['t', 'x"y'],
        ['l', 'a'],
        ['l', '2'],
      ] as const;
      for (const [key, value] of matching) {
        expect(await found({ metadata: [{ key, value }] })).toEqual(full);
      }
      const others = [
        ['n', '1.0'],
        ['n', '2'],
        ['o', '1'],
        ['null', 'null'],
        ['a', '1'],
      ] as const;
      for (const [key, value] of others) {
        expect(await found({ metadata: [{ key, value }] })).toEqual([]);
      }
      const both = [
        { key: 'n', value: '1' },
        { key: 'b', value: 'false' },
      ];
      expect(await found({ metadata: both })).toEqual([]);
    });

    test('an update replaces content, keeps metadata that is not given, and sets the time', async () => {
      const given = memory({ metadata: '{"kept":true}' });
      await save(storage, given, { at: 1 });
      await update(storage, given.id, 'new', { at: 5 });
      const updated = await storage.getMemory(projectId, given.id);
      expect(updated).toMatchObject({ content: 'new', metadata: '{"kept":true}', createdAt: 1 });
      expect(updated?.updatedAt).toBe(5);
      await update(storage, given.id, 'new', { metadata: '{}' });
      expect((await storage.getMemory(projectId, given.id))?.metadata).toBe('{}');
    });

    test('a deleted memory is gone from every read', async () => {
      const given = memory();
      await save(storage, given);
      await remove(storage, given.id);
      expect(await storage.getMemory(projectId, given.id)).toBeNull();
      expect(await storage.getStatus(projectId, given.id)).toBeNull();
      expect(await list(storage)).toEqual([]);
      await expect(remove(storage, given.id)).rejects.toThrow('no memory');
    });

    test('a failing write undoes itself alone, not the writes it commits with', async () => {
      const same = memory();
      const results = await Promise.allSettled([
        save(storage, memory()),
        save(storage, same),
        remove(storage, 'mem_none'),
        save(storage, same),
        save(storage, memory()),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
      ]);
      expect((await list(storage)).length).toBe(3);
    });

    test('a write that fails after it has stored something has stored nothing', async () => {
      const fault = new Error('no answer');
      const answer = () => {
        throw fault;
      };
      // Alone, and before any slow commit: it may be committed in another way than a group.
      const lone = save(storage, memory(), { answer });
      await expect(lone).rejects.toBe(fault);
      const group = [save(storage, memory()), save(storage, memory(), { answer })];
      await Promise.allSettled(group);
      await expect(group[1]).rejects.toBe(fault);
      expect((await list(storage)).length).toBe(1);
    });
  });
}

/** The stored answers: one effect and one answer for each key. */
export function exerciseAnswers(name: string, open: () => Promise<Opened>): void {
  describe(`${name}: answers`, () => {
    let opened: Opened;
    let storage: Storage;
    beforeEach(async () => {
      opened = await open();
      storage = opened.storage;
    });
    afterEach(() => opened.dispose());

    const idempotency = { key: 'k', fingerprint: 'f' };

    test('fifty twins have one effect and get one answer, also after reopening', async () => {
      const twins = Array.from({ length: 50 }, () => save(storage, memory(), { idempotency }));
      const results = await Promise.all(twins);
      expect(new Set(results.map(({ answer }) => answer.body)).size).toBe(1);
      expect(results.filter(({ replayed }) => !replayed).length).toBe(1);
      expect((await list(storage)).length).toBe(1);
      storage = await opened.reopen();
      const again = await save(storage, memory(), { idempotency });
      expect(again).toEqual({
        answer: results[0]?.answer ?? { status: 0, body: '' },
        replayed: true,
      });
      expect((await list(storage)).length).toBe(1);
    });

    test('another request under the key is refused and changes nothing', async () => {
      await save(storage, memory(), { idempotency });
      const other = { key: 'k', fingerprint: 'g' };
      await expect(save(storage, memory(), { idempotency: other })).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
      expect((await list(storage)).length).toBe(1);
    });

    test('another project may use the same key', async () => {
      await save(storage, memory(), { idempotency });
      const other = { key: 'k', fingerprint: 'g' };
      const { replayed } = await save(storage, memory(), { idempotency: other, projectId: 2 });
      expect(replayed).toBe(false);
    });

    test('an error uses no key up', async () => {
      await expect(update(storage, 'mem_none', 'x', { idempotency })).rejects.toThrow('no memory');
      const { replayed } = await save(storage, memory(), { idempotency });
      expect(replayed).toBe(false);
    });

    test('deleting cuts the answers that hold the text, and no other', async () => {
      const [gone, kept] = [memory({ content: 'canary' }), memory()];
      await save(storage, gone, { idempotency });
      await save(storage, kept, { idempotency: { key: 'k2', fingerprint: 'f' } });
      await update(storage, gone.id, 'canary 2', { idempotency: { key: 'k3', fingerprint: 'f' } });
      await remove(storage, gone.id);
      const cut = JSON.stringify({ id: gone.id, memoryId: gone.id, deleted: true });
      const replay = await save(storage, gone, { idempotency });
      expect(replay.answer).toEqual({ status: 200, body: cut });
      const third = { key: 'k3', fingerprint: 'f' };
      expect((await update(storage, gone.id, 'x', { idempotency: third })).answer.body).toBe(cut);
      const second = { key: 'k2', fingerprint: 'f' };
      expect((await save(storage, kept, { idempotency: second })).answer.body).toContain('hello');
    });

    test('answers of a clock that was ahead are not in the way of a sweep for ever', async () => {
      for (const [index, at] of [900, 901, 2, 3].entries()) {
        await save(storage, memory(), { at, idempotency: { key: `k${index}`, fingerprint: 'f' } });
      }
      expect(await storage.sweepAnswers({ now: 9, before: 6, limit: 1 })).toBe(1);
      expect(await storage.sweepAnswers({ now: 9, before: 6, limit: 9 })).toBe(1);
      expect(await storage.sweepAnswers({ now: 999, before: 950, limit: 9 })).toBe(2);
    });

    test('a sweep by a clock that is behind forgets nothing, then or later', async () => {
      const key = { key: 'k', fingerprint: 'f' };
      await save(storage, memory(), { at: 900, idempotency: key });
      expect(await storage.sweepAnswers({ now: 5, before: 2, limit: 9 })).toBe(0);
      expect(await storage.sweepAnswers({ now: 901, before: 890, limit: 9 })).toBe(0);
      expect((await save(storage, memory(), { at: 902, idempotency: key })).replayed).toBe(true);
    });

    test('a sweep forgets old answers, the limit at a time, and keeps younger ones', async () => {
      for (const [index, at] of [1, 2, 3, 4].entries()) {
        const key = { key: `k${index}`, fingerprint: 'f' };
        await save(storage, memory(), { at, idempotency: key });
      }
      expect(await storage.sweepAnswers({ now: 9, before: 3, limit: 1 })).toBe(1);
      expect(await storage.sweepAnswers({ now: 9, before: 3, limit: 9 })).toBe(1);
      expect(await storage.sweepAnswers({ now: 9, before: 3, limit: 9 })).toBe(0);
      const young = { key: 'k2', fingerprint: 'f' };
      expect((await save(storage, memory(), { idempotency: young })).replayed).toBe(true);
      const old = { key: 'k1', fingerprint: 'f' };
      expect((await save(storage, memory(), { idempotency: old })).replayed).toBe(false);
    });

    test('accepting records is replayed as a whole', async () => {
      const first = await accept(storage, [record(), record()], { idempotency });
      const again = await accept(storage, [record(), record()], { idempotency });
      expect(again).toEqual({ answer: first.answer, replayed: true });
      expect((await list(storage)).length).toBe(2);
    });
  });
}
