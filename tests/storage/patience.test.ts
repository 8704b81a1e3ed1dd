import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { straceMissing } from '../faults/strace.ts';
import { temporaryFolder, withFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';
import { backUp, countIn, fill, inOtherProcess, openFile, restore, saveMany } from './sqlite.ts';

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

/* A command opens the database while a restore replaces the file. */

const delayMicros = 1_500_000;
const createsKey = `
  const admin = await openKeys(process.env.DATABASE, { create: true });
  await admin.createKey({ name: 'late', project: 'default' });
  await admin.close();
`;

/** Starts a command that opens the file and acquires its first SQLite lock after a delay. */
async function startSlowCommand(path: string) {
  const calls = `${path}.calls`;
  const delay = `inject=fcntl:delay_enter=${delayMicros}:when=1`;
  const traced = ['strace', '-f', '-o', calls, '-P', path, '-e', 'trace=fcntl,openat', '-e', delay];
  const command = inOtherProcess(createsKey, { DATABASE: path }, traced);
  await until(() => existsSync(calls) && readFileSync(calls, 'utf8').includes('fcntl('));
  return command;
}

describe.if(straceMissing() === null)('a command that opens the database during a restore', () => {
  test("does not write the new file's log into the old file", async () => {
    using folder = temporaryFolder();
    const [path, backup] = [folder.file('memory.db'), folder.file('backup.db')];
    await fill(path, 3);
    await backUp(path, backup);
    await fill(path, 200);
    const command = await startSlowCommand(path);
    const { kept } = await restore(backup, path);
    const server = await openFile(path);
    await saveMany(server, 20);
    expect(await command.exited).toBe(0);
    await saveMany(server, 20);
    await server.close();
    expect(countIn(path)).toBe(43);
    expect(countIn(kept ?? '')).toBe(203);
    expect(countIn(kept ?? '', 'api_keys')).toBe(1);
  });
});
