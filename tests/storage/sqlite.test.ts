import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import { until } from '../support/until.ts';
import { exerciseAnswers, exerciseMemories, type Opened } from './exercise.ts';
import { exerciseKeys } from './exercise-keys.ts';
import { exerciseQueue } from './exercise-queue.ts';
import { exerciseTransfer } from './exercise-transfer.ts';
import { accept, list, memory, record, save } from './fixtures.ts';

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

test('the log is written into the file while the server runs, and is gone after it', async () => {
  await inFolder(async (path) => {
    const storage = openSqlite(path, { exclusive: true });
    const beside = new Database(path);
    const look = beside.prepare('PRAGMA wal_checkpoint(NOOP)');
    const checkpointed = () => (look.get() as { checkpointed: number }).checkpointed;
    const content = 'a long text '.repeat(10_000);
    const written = async () => {
      await save(storage, memory({ content }));
      return checkpointed() > 0;
    };
    await until(written, { what: 'a checkpoint' });
    beside.close(true);
    await storage.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

test('the log begins anew under writes that never pause, and nothing of them is missing', async () => {
  await inFolder(async (path) => {
    const storage = openSqlite(path, { exclusive: true });
    const beside = new Database(path);
    const look = beside.prepare('PRAGMA wal_checkpoint(NOOP)');
    const pages = () => (look.get() as { log: number }).log;
    const content = 'a long text '.repeat(2_000);
    let longest = 0;
    let shortened = false;
    let saved = 0;
    async function write(): Promise<void> {
      while (!shortened) {
        await save(storage, memory({ content }));
        saved += 1;
      }
    }
    const writing = Array.from({ length: 16 }, write);
    await until(
      () => {
        const now = pages();
        shortened = now < longest / 2;
        longest = Math.max(longest, now);
        return shortened;
      },
      { what: 'a shorter log' },
    );
    await Promise.all(writing);
    beside.close(true);
    expect(await list(storage, { limit: saved + 1 })).toHaveLength(saved);
    await storage.close();
  });
});

test('a log that somebody who reads for long has let grow is given back to the disk', async () => {
  await inFolder(async (path) => {
    const storage = openSqlite(path, { exclusive: true });
    const content = 'a long text '.repeat(20_000);
    const logBytes = async () => {
      await save(storage, memory({ content }));
      return statSync(`${path}-wal`).size;
    };
    const beside = new Database(path);
    beside.run('BEGIN');
    beside.prepare('SELECT count(*) FROM memories').get();
    const grown = 80 * 1024 * 1024;
    await until(async () => (await logBytes()) > grown, { what: 'a long log' });
    beside.run('END');
    beside.close(true);
    await until(async () => (await logBytes()) < grown / 2, { what: 'a short log' });
    await storage.close();
  });
});

test('reads go on while a batch is written, and see all of it or nothing', async () => {
  await inFolder(async (path) => {
    const storage = openSqlite(path, { exclusive: true });
    const records = Array.from({ length: 1_000 }, () => record({ content: 'x'.repeat(5_000) }));
    let accepted = false;
    const batch = accept(storage, records).then(() => {
      accepted = true;
    });
    const seen: number[] = [];
    while (!accepted) {
      seen.push((await list(storage, { limit: 2_000 })).length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await batch;
    // One read at least came after the batch had begun and before it had ended.
    expect(seen.filter((count) => count === 0).length).toBeGreaterThan(1);
    expect(seen.every((count) => count === 0 || count === 1_000)).toBe(true);
    expect((await list(storage, { limit: 2_000 })).length).toBe(1_000);
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
