import { expect, test } from 'bun:test';
import { newKey } from './fixtures.ts';
import { opened } from './suite.ts';

/** Tests API keys and their projects. */
export function testKeys(): void {
  test('a key is found by its hash, with its project and its permissions', async () => {
    const rights = { userId: 'ada', readOnly: true, expiresAt: 99 };
    const kinds = [{ id: 'plain' }, { id: 'bound', ...rights }, { id: 'm', metricsOnly: true }];
    for (const given of kinds.map(newKey)) {
      const { hash, ...shown } = given;
      const stored = await opened.storage.createKey(given);
      const projectId = await opened.storage.ensureProject('p');
      expect(stored).toEqual({ ...shown, projectId, lastUsedAt: null, revokedAt: null });
      expect(await opened.storage.findKey(hash)).toEqual(stored);
    }
    expect(await opened.storage.findKey('another hash')).toBeNull();
  });

  test('keys of the same project share it, and keys of another project do not', async () => {
    const [a, b, c] = [
      newKey({ id: 'a', project: 'one' }),
      newKey({ id: 'b', project: 'one' }),
      newKey({ id: 'c', project: 'two' }),
    ];
    const [one, same, other] = [
      await opened.storage.createKey(a),
      await opened.storage.createKey(b),
      await opened.storage.createKey(c),
    ];
    expect(same.projectId).toBe(one.projectId);
    expect(other.projectId).not.toBe(one.projectId);
    expect(await opened.storage.ensureProject('two')).toBe(other.projectId);
  });

  test('keys are listed oldest first, including revoked keys', async () => {
    await opened.storage.createKey(newKey({ id: 'later', createdAt: 9_000 }));
    await opened.storage.createKey(newKey({ id: 'first', createdAt: 1 }));
    await opened.storage.revokeKey({ id: 'first', at: 9 });
    const listed = await opened.storage.listKeys();
    expect(listed[0]).toMatchObject({ id: 'first', revokedAt: 9 });
    expect(listed.at(-1)).toMatchObject({ id: 'later' });
    expect(JSON.stringify(listed)).not.toContain('hash of');
  });

  test('a key is revoked once, and its last use is recorded', async () => {
    await opened.storage.createKey(newKey({ id: 'used' }));
    await opened.storage.createKey(newKey({ id: 'unused' }));
    await opened.storage.touchKeys([{ id: 'used', at: 8 }]);
    expect(await opened.storage.revokeKey({ id: 'used', at: 9 })).toBe(true);
    expect(await opened.storage.revokeKey({ id: 'used', at: 10 })).toBe(false);
    expect(await opened.storage.revokeKey({ id: 'none', at: 10 })).toBe(false);
    const revoked = { lastUsedAt: 8, revokedAt: 9 };
    expect(await opened.storage.findKey('hash of used')).toMatchObject(revoked);
    const untouched = { lastUsedAt: null, revokedAt: null };
    expect(await opened.storage.findKey('hash of unused')).toMatchObject(untouched);
  });
}
