import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import { exerciseAnswers, exerciseMemories, type Opened } from './exercise.ts';
import { exerciseKeys } from './exercise-keys.ts';
import { exerciseQueue } from './exercise-queue.ts';
import { exerciseTransfer } from './exercise-transfer.ts';

async function inFolder(use: (path: string) => void | Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-storage-'));
  try {
    await use(join(folder, 'memory.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function open(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-storage-'));
  const path = join(folder, 'memory.db');
  const opened: Opened = {
    storage: openSqlite(path, { exclusive: true }),
    async reopen() {
      await opened.storage.close();
      opened.storage = openSqlite(path, { exclusive: true });
      return opened.storage;
    },
    async dispose() {
      await opened.storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return opened;
}

exerciseMemories('sqlite', open);
exerciseAnswers('sqlite', open);
exerciseQueue('sqlite', open);
exerciseKeys('sqlite', open);
exerciseTransfer('sqlite', open);

test('a second server on the file is refused, an admin is not', async () => {
  await inFolder(async (path) => {
    const storage = openSqlite(path, { exclusive: true });
    expect(() => openSqlite(path, { exclusive: true })).toThrow('a server is already running');
    await openSqlite(path, { exclusive: false }).close();
    await storage.close();
    await openSqlite(path, { exclusive: true }).close();
  });
});

test('a second server is refused by whatever name it calls the file', async () => {
  await inFolder(async (path) => {
    const storage = openSqlite(path, { exclusive: true });
    symlinkSync(path, `${path}.link`);
    const other = () => openSqlite(`${path}.link`, { exclusive: true });
    expect(other).toThrow('a server is already running');
    await storage.close();
  });
});

test('the file and its lock are for their owner alone', async () => {
  await inFolder(async (path) => {
    const storage = openSqlite(path, { exclusive: true });
    for (const suffix of ['', '-wal', '.lock']) {
      expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
    }
    await storage.close();
  });
});

test('a file of a newer version, and of another program, is refused in words', async () => {
  await inFolder((path) => {
    const db = new Database(path);
    db.run('PRAGMA user_version = 999');
    expect(() => openSqlite(path, { exclusive: true })).toThrow('newer version');
    db.run('PRAGMA user_version = 0');
    db.run('CREATE TABLE other (x)');
    db.close();
    expect(() => openSqlite(path, { exclusive: true })).toThrow('another program');
  });
});
