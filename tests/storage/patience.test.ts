import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { copyFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { withFolder } from '../support/folder.ts';
import { backUp, countIn, fill, inOtherProcess, openFile, restore } from './sqlite.ts';

/* Opening and restoring a database that another process has open. */

const briefMs = 700;
const holds = `
  import { Database } from 'bun:sqlite';
  const db = new Database(process.env.DATABASE);
  db.run('PRAGMA locking_mode = ' + process.env.MODE);
  db.run('SELECT 1 FROM sqlite_schema');
  console.log('locked');
  setTimeout(() => db.close(), process.env.HELD_MS);
`;

const folder = withFolder();
const backup = folder.file('backup.db');
await fill(folder.file('memory.db'), 1);
await backUp(folder.file('memory.db'), backup);

/** Starts a process that briefly opens the database with this SQLite locking mode. */
async function startHolder(path: string, mode: 'normal' | 'exclusive') {
  const holder = inOtherProcess(holds, { DATABASE: path, MODE: mode, HELD_MS: String(briefMs) });
  await holder.stdout.getReader().read();
  return holder;
}

test.concurrent('a database in use by another program is opened once that program closes it', async () => {
  const path = folder.file('opened.db');
  copyFileSync(backup, path);
  const holder = await startHolder(path, 'exclusive');
  const storage = await openFile(path);
  expect(await storage.listKeys()).toEqual([]);
  await storage.close();
  expect(await holder.exited).toBe(0);
});

test.concurrent('a database in use by another program is restored once that program closes it', async () => {
  const path = folder.file('restored.db');
  copyFileSync(backup, path);
  const holder = await startHolder(path, 'normal');
  expect((await restore(backup, path)).memories).toBe(1);
  expect(await holder.exited).toBe(0);
});

const opens = 'await openFile(process.env.DATABASE);';
const restores = 'await restore(process.env.BACKUP, process.env.DATABASE);';

// The cases run concurrently in separate processes, because each waits for five seconds.
test.concurrent.each([
  ['locked', 'opened', opens, 'PRAGMA locking_mode = exclusive'],
  ['locked', 'replaced by a restore', restores, 'PRAGMA locking_mode = exclusive'],
  ['read', 'replaced by a restore', restores, 'BEGIN'],
])('a database that stays %s by another program is not %s', async (_, what, source, hold) => {
  const locked = folder.file(`${hold.length} ${what}.db`);
  copyFileSync(backup, locked);
  const other = new Database(locked);
  other.run('PRAGMA journal_mode = wal');
  other.run(hold);
  other.run('SELECT 1 FROM sqlite_schema');
  const child = inOtherProcess(source, { DATABASE: locked, BACKUP: backup });
  expect(await child.stderr.text()).toContain('another program has');
  expect(await child.exited).not.toBe(0);
  other.close(true);
  const left = readdirSync(folder.path).filter((name) => name.startsWith(basename(locked)));
  expect(left.filter((name) => /before|restoring/.test(name))).toEqual([]);
  expect(countIn(locked)).toBe(1);
});
