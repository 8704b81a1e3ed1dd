import { expect, test } from 'bun:test';
import { newKey } from './fixtures.ts';
import { opened } from './suite.ts';

/** Tests API keys. */
export function testKeys(): void {
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
