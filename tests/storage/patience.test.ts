import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupDatabase, restoreDatabase } from '../../server/storage/sqlite/backup.ts';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import { memory, save } from './fixtures.ts';

/* A database that another process has open, and is about to close, or is not. */

const briefMs = 700;
const longMs = 60_000;
const holds = `
  import { Database } from 'bun:sqlite';
  const db = new Database(process.env.DATABASE);
  db.run('PRAGMA locking_mode = ' + process.env.MODE);
  db.run('SELECT 1 FROM sqlite_schema');
  console.log('held');
  setTimeout(() => db.close(), process.env.HELD_MS);
`;

const folder = mkdtempSync(join(tmpdir(), 'memory-patience-'));
const path = join(folder, 'memory.db');
const backup = join(folder, 'backup.db');

beforeAll(async () => {
  const storage = openSqlite(path, { exclusive: true });
  await save(storage, memory());
  await storage.close();
  backupDatabase(path, backup);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process that has the database, in this locking mode of SQLite's, for so long. */
async function startHolder(mode: 'normal' | 'exclusive', heldMs: number) {
  const holder = Bun.spawn([process.execPath, '-e', holds], {
    env: { ...process.env, DATABASE: path, MODE: mode, HELD_MS: String(heldMs) },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  await holder.stdout.getReader().read();
  return holder;
}

test('is opened once the other one has closed it', async () => {
  const holder = await startHolder('exclusive', briefMs);
  const storage = openSqlite(path, { exclusive: false });
  expect(await storage.listKeys()).toEqual([]);
  await storage.close();
  expect(await holder.exited).toBe(0);
});

test('is restored once the other one has closed it', async () => {
  const holder = await startHolder('normal', briefMs);
  expect(restoreDatabase(backup, path, 'now').memories).toBe(1);
  expect(await holder.exited).toBe(0);
});

test('is neither opened nor moved while the other one keeps it', async () => {
  const holder = await startHolder('exclusive', longMs);
  const begun = performance.now();
  expect(() => openSqlite(path, { exclusive: false })).toThrow('another program has');
  expect(() => restoreDatabase(backup, path, 'never')).toThrow('another program has');
  // Five seconds each.
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(readdirSync(folder).filter((name) => /never|restoring/.test(name))).toEqual([]);
  holder.kill();
  await holder.exited;
  const storage = openSqlite(path, { exclusive: false });
  await storage.close();
});
