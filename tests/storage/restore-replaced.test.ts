import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { copyFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Storage } from '../../server/storage/storage.ts';
import { rejectionOf } from '../support/thrown.ts';
import { backup, folder, path, withFiles } from './files.ts';
import { newKey } from './fixtures.ts';
import { backUp, openFile, restore, saveOne } from './sqlite.ts';

/* What a restore learns from a database that it replaces, in whatever state that database is. */

const key = newKey({ id: 'key_1', project: 'default', name: 'laptop', lastFour: 'test' });

async function use(work: (storage: Storage) => Promise<unknown>): Promise<void> {
  const storage = await openFile(path);
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}

/** Makes a backup, then revokes the key and erases the user. */
withFiles(() =>
  use(async (storage) => {
    const { projectId } = await storage.createKey(key);
    expect(projectId).toBe(1);
    await saveOne(storage, { userId: 'erased' });
    await saveOne(storage, { userId: 'expiring', expiresAt: 5_000 });
    await backUp(path, backup);
    await storage.revokeKey({ id: key.id, at: 2_000 });
    const erasure = { projectId, userId: 'erased', at: 2_000 };
    await storage.eraseUser({ ...erasure, idempotency: null });
  }),
);

const revokedKeys = [{ id: key.id, project: 'default', name: 'laptop', lastFour: 'test' }];

async function revokedAt(): Promise<number | null | undefined> {
  let found: number | null | undefined;
  await use(async (storage) => {
    found = (await storage.findKey(key.hash))?.revokedAt;
  });
  return found;
}

test('a user whose memories have expired since the backup does not count as erased', async () => {
  await use((storage) => storage.maintain({ now: 6_000, elapsedMs: 1 }));
  const { broughtBackUsers } = await restore(backup, path, { now: 6_000 });
  expect(broughtBackUsers.map(({ userId }) => userId)).toEqual(['erased']);
});

test('a key that is revoked in the backup, too, is not reported', async () => {
  const later = folder.file('later.db');
  await backUp(path, later);
  expect(await restore(later, path)).toMatchObject({ revokedKeys: [], broughtBackUsers: [] });
});

test('a restore without a database does not use one that was set aside before', async () => {
  renameSync(path, `${path}.before-2026-01-01`);
  const unchecked = expect.stringContaining('there is no database');
  expect(await restore(backup, path)).toMatchObject({ revokedKeys: [], unchecked });
});

test('a restore after an interrupted one uses the database that was set aside', async () => {
  renameSync(path, `${path}.before-2026-01-02`);
  copyFileSync(backup, `${path}.before-2026-01-01`);
  copyFileSync(backup, `${path}.restoring`);
  const users = [{ project: 'default', userId: 'erased', memories: 1 }];
  expect(await restore(backup, path)).toMatchObject({ revokedKeys, broughtBackUsers: users });
  expect(await revokedAt()).toBe(2_000);
});

test('a restore keeps the revocations in a damaged database, but does not guess at its users', async () => {
  const db = new Database(path);
  db.run('PRAGMA writable_schema = ON');
  const { rootpage } = db
    .prepare<{ rootpage: number }, []>(
      `SELECT rootpage FROM sqlite_schema WHERE name = 'memories_by_id'`,
    )
    .get() ?? { rootpage: 0 };
  db.close(true);
  const bytes = Buffer.from(await Bun.file(path).arrayBuffer());
  bytes.fill(0xff, (rootpage - 1) * 4_096, rootpage * 4_096);
  writeFileSync(path, bytes);
  expect((await rejectionOf(restore(backup, path, { eraseAgain: true }))).message).toContain(
    `${path} is damaged`,
  );
  const restored = await restore(backup, path);
  expect(restored).toMatchObject({ revokedKeys, broughtBackUsers: [], erasedAgain: false });
  expect(restored.unchecked).toContain(`${path} is damaged`);
  expect(await revokedAt()).toBe(2_000);
});
