import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Storage } from '../../server/storage/storage.ts';
import type { Opened } from './exercise.ts';

/** API keys and their projects. */
export function exerciseKeys(name: string, open: () => Promise<Opened>): void {
  describe(`${name}: keys`, () => {
    let opened: Opened;
    let storage: Storage;
    beforeEach(async () => {
      opened = await open();
      storage = opened.storage;
    });
    afterEach(() => opened.dispose());

    const about = { name: 'n', prefix: 'mk_abcd', lastFour: 'wxyz', createdAt: 5, expiresAt: null };

    test('a key is found by its hash, with its project', async () => {
      const key = { ...about, id: 'key_1', project: 'p', hash: 'h1' };
      const { hash: _, ...shown } = key;
      const stored = await storage.createKey(key);
      expect(stored).toEqual({
        ...shown,
        projectId: await storage.ensureProject('p'),
        lastUsedAt: null,
        revokedAt: null,
      });
      expect(await storage.findKey('h1')).toEqual(stored);
      expect(await storage.findKey('h2')).toBeNull();
    });

    test('keys of one project share it; projects differ', async () => {
      const one = await storage.createKey({ ...about, id: 'a', project: 'p', hash: 'h1' });
      const two = await storage.createKey({ ...about, id: 'b', project: 'p', hash: 'h2' });
      const other = await storage.createKey({ ...about, id: 'c', project: 'q', hash: 'h3' });
      expect(two.projectId).toBe(one.projectId);
      expect(other.projectId).not.toBe(one.projectId);
      expect((await storage.listKeys()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    });

    test('a key is revoked once, and its use is noted', async () => {
      await storage.createKey({ ...about, id: 'a', project: 'p', hash: 'h1' });
      await storage.touchKeys([{ id: 'a', at: 8 }]);
      expect(await storage.revokeKey('a', 9)).toBe(true);
      expect(await storage.revokeKey('a', 10)).toBe(false);
      expect(await storage.revokeKey('none', 10)).toBe(false);
      expect(await storage.findKey('h1')).toMatchObject({ lastUsedAt: 8, revokedAt: 9 });
    });
  });
}
