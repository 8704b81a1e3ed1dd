import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { openCopySides } from '../../server/admin.ts';
import { rejectionOf } from '../support/thrown.ts';
import { backup, folder, path, withFiles } from './files.ts';
import {
  backUp,
  countIn,
  diagnoseFile,
  fill,
  openFile,
  openKeys,
  restore,
  saveMany,
  saveOne,
  setAside,
} from './sqlite.ts';

/* Backups and restores with leftover logs and journals, damaged files and links. */

withFiles();

async function refusalOf(call: Promise<unknown>): Promise<string> {
  return (await rejectionOf(call)).message;
}

/** Creates the files that a killed server leaves. The last writes are only in the log. */
async function leaveLog(file: string, count: number): Promise<void> {
  const storage = await openFile(path);
  await saveMany(storage, count, 'late');
  for (const part of ['', '-wal']) copyFileSync(path + part, `${folder.path}/killed.db${part}`);
  await storage.close();
  for (const part of ['', '-wal']) renameSync(`${folder.path}/killed.db${part}`, file + part);
}

test('a restore moves away a log that has no database file, and does not apply it to the restored file', async () => {
  await leaveLog(path, 40);
  rmSync(path);
  const { memories, kept } = await restore(backup, path);
  expect(memories).toBe(3);
  expect(kept).toBe(`${path}${setAside}-wal`);
  expect(existsSync(kept ?? '')).toBe(true);
  expect(countIn(path)).toBe(3);
});

test('a restore keeps the complete previous database, including its log', async () => {
  await leaveLog(path, 40);
  const { kept } = await restore(backup, path);
  expect(countIn(kept ?? '')).toBe(43);
  expect(countIn(path)).toBe(3);
});

test('a restore keeps a file that is too damaged to open, with its log', async () => {
  await leaveLog(path, 40);
  writeFileSync(path, 'no database at all '.repeat(1_000));
  await restore(backup, path);
  expect(countIn(path)).toBe(3);
  const kept = readdirSync(folder.path).filter((name) => name.includes(setAside));
  const bytes = kept.map((name) => readFileSync(folder.file(name), 'latin1')).join('');
  expect(bytes).toContain('late 39');
});

test('a restore keeps a log that cannot be checkpointed, and does not try again', async () => {
  await leaveLog(path, 40);
  const { run } = Database.prototype;
  let attempts = 0;
  Database.prototype.run = function runOnFullDisk(this: Database, ...given: [string]) {
    if (given[0] !== 'PRAGMA journal_mode = delete') return run.apply(this, given);
    attempts += 1;
    throw new Error('database or disk is full');
  } as typeof run;
  let kept: string | null;
  try {
    ({ kept } = await restore(backup, path));
  } finally {
    Database.prototype.run = run;
  }
  expect(attempts).toBe(1);
  expect(countIn(kept ?? '')).toBe(43);
  expect(countIn(path)).toBe(3);
});

test('a restore includes the log of a backup, and changes neither file', async () => {
  const crashed = folder.file('crashed.db');
  await leaveLog(crashed, 20);
  const bytes = () => [readFileSync(crashed), readFileSync(`${crashed}-wal`)];
  const before = bytes();
  expect((await restore(crashed, folder.file('new.db'))).memories).toBe(23);
  expect(countIn(folder.file('new.db'))).toBe(23);
  expect(bytes()).toEqual(before);
});

test("a restored database is readable only by its owner, regardless of the backup's file mode", async () => {
  const open = folder.file('open.db');
  copyFileSync(backup, open);
  chmodSync(open, 0o644);
  await restore(open, path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a server does not start on an empty database after an interrupted restore', async () => {
  renameSync(path, `${path}${setAside}`);
  copyFileSync(backup, `${path}.restoring`);
  expect(await refusalOf(openFile(path))).toContain('a restore was interrupted');
  expect(existsSync(path)).toBe(false);
  // Nor does a server start after another restore fails.
  const refused = (name: string) => refusalOf(restore(folder.file(name), path, { now: 2_000 }));
  expect(await refused('none.db')).toContain('no backup');
  writeFileSync(folder.file('bad.db'), 'no database at all '.repeat(1_000));
  expect(await refused('bad.db')).toContain('not an intact backup');
  expect(await refusalOf(openFile(path))).toContain('a restore was interrupted');
  // The partially restored file is itself a valid backup.
  await restore(`${path}.restoring`, path, { now: 2_000 });
  expect(countIn(path)).toBe(3);
  expect(readdirSync(folder.path).filter((name) => name.includes('restoring'))).toEqual([]);
});

test('a restore moves a leftover journal away, and does not apply it to the restored file', async () => {
  const other = new Database(folder.file('other.db'));
  other.run('PRAGMA journal_mode = DELETE');
  other.run('CREATE TABLE t (x)');
  other.run('BEGIN');
  other.run('INSERT INTO t VALUES (1)');
  copyFileSync(folder.file('other.db-journal'), `${path}-journal`);
  other.run('ROLLBACK');
  other.close(true);
  rmSync(path);
  await restore(backup, path);
  expect(existsSync(`${path}-journal`)).toBe(false);
  expect(existsSync(`${path}${setAside}-journal`)).toBe(true);
  expect(countIn(path)).toBe(3);
});

test('a backup that fails leaves no file behind', async () => {
  const sick = folder.file('sick.db');
  writeFileSync(sick, 'no database at all '.repeat(1_000));
  await rejectionOf(backUp(sick, folder.file('copy.db')));
  expect(readdirSync(folder.path).filter((name) => name.startsWith('copy.db'))).toEqual([]);
});

test('a backup removes the partial files of killed backups, but not those of running ones', async () => {
  const target = folder.file('copy.db');
  const running = Bun.spawn(['sleep', '60']);
  const partOf = (pid: number) => `${target}.${pid}.partial`;
  const orphans = [partOf(process.pid), partOf(Bun.spawnSync(['true']).pid)];
  const parts = [...orphans, `${orphans[1]}-journal`, partOf(running.pid)];
  for (const name of parts) writeFileSync(name, 'half');
  expect((await backUp(path, target)).memories).toBe(3);
  expect(countIn(target)).toBe(3);
  const left = readdirSync(folder.path).filter((name) => name.includes('.partial'));
  expect(left).toEqual([basename(partOf(running.pid))]);
  running.kill('SIGTERM');
  await running.exited;
  // A signal from the backup would have ended the process first.
  expect(running.signalCode).toBe('SIGTERM');
});

test('an empty file is rejected as a backup, and reported by the doctor', async () => {
  writeFileSync(backup, '');
  expect(await refusalOf(restore(backup, path))).toContain('is not a backup: it is empty');
  expect(countIn(path)).toBe(3);
  writeFileSync(path, '');
  const finding = (await diagnoseFile(path)).find(({ name }) => name === 'database');
  expect(finding).toMatchObject({ level: 'failure', found: 'the file is empty' });
  expect(finding?.advice).toContain('memory restore <backup>');
});

for (const lost of ['missing', 'empty']) {
  test(`a log whose file is ${lost} is not deleted by a start, a command or a backup`, async () => {
    await leaveLog(path, 40);
    const { size } = statSync(`${path}-wal`);
    rmSync(path);
    if (lost === 'empty') writeFileSync(path, '');
    expect(await refusalOf(openFile(path))).toContain('is missing or empty');
    expect(await refusalOf(openKeys(path, { create: true }))).toContain('is missing or empty');
    const link = folder.file('link.db');
    symlinkSync(path, link);
    await rejectionOf(backUp(link, folder.file('copy.db')));
    expect(JSON.stringify(await diagnoseFile(path))).toContain('is missing or empty');
    expect(statSync(`${path}-wal`).size).toBe(size);
  });
}

test('a database with a second hard link is rejected under both names', async () => {
  const second = folder.file('second.db');
  linkSync(path, second);
  for (const name of [path, second]) {
    expect(await refusalOf(openFile(name))).toContain('more than one hard link');
  }
});

test('opening a symbolic link to a missing file creates that file, under one lock', async () => {
  const link = folder.file('link.db');
  const file = folder.file('elsewhere.db');
  symlinkSync('elsewhere.db', link);
  const storage = await openFile(link);
  try {
    await saveOne(storage);
    expect(await refusalOf(openFile(file))).toContain('already using');
  } finally {
    await storage.close();
  }
  expect(countIn(file)).toBe(1);
});

test('symbolic links are followed relative to their folder, and a loop is rejected', async () => {
  const deep = folder.file('x/y');
  mkdirSync(deep, { recursive: true });
  symlinkSync('../else.db', join(deep, 'm.db'));
  symlinkSync('x/y', folder.file('short'));
  await fill(folder.file('short/m.db'), 1);
  expect(countIn(folder.file('x/else.db'))).toBe(1);
  const loop = folder.file('loop.db');
  symlinkSync('loop.db', loop);
  expect(await refusalOf(openFile(loop))).toContain('too many levels of symbolic links');
});

test('a file of another program is rejected as such, regardless of its schema version', async () => {
  const foreign = folder.file('foreign.db');
  const db = new Database(foreign);
  db.run('CREATE TABLE t (x)');
  db.run('PRAGMA user_version = 7');
  db.close(true);
  expect(await refusalOf(openFile(foreign))).toContain('of another program');
  // A rejected copy has released its lock, so the next copy is rejected for the same reason.
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const copying = openCopySides(`sqlite:${foreign}`, 'postgres://127.0.0.1/none', {
      create: true,
    });
    expect(await refusalOf(copying)).toContain('of another program');
  }
  // The doctor must not suggest replacing the file with a backup.
  expect(JSON.stringify(await diagnoseFile(foreign))).not.toContain('memory restore');
});

test('a restore replaces the partial copy that a killed restore left', async () => {
  for (const part of ['', '-journal', '-wal']) {
    writeFileSync(`${path}.restoring.partial${part}`, 'half of a copy');
  }
  expect((await restore(backup, path)).memories).toBe(3);
  expect(countIn(path)).toBe(3);
  expect(readdirSync(folder.path).filter((name) => name.includes('restoring'))).toEqual([]);
});

test('a backup does not overwrite a file that appears while the copy is written', async () => {
  const target = folder.file('copy.db');
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function prepareLate(this: Database, ...given: [string]) {
    if (given[0] === 'VACUUM INTO ?') writeFileSync(target, 'of another program');
    return prepare.apply(this, given);
  } as typeof prepare;
  try {
    expect(await refusalOf(backUp(path, target))).toContain('already exists');
  } finally {
    Database.prototype.prepare = prepare;
  }
  expect(readFileSync(target, 'utf8')).toBe('of another program');
  expect(readdirSync(folder.path).filter((name) => name.includes('.partial'))).toEqual([]);
});

test('the doctor creates no lock file next to a backup', async () => {
  expect(await diagnoseFile(backup)).toContainEqual({
    name: 'server',
    level: 'ok',
    found: 'not running',
  });
  expect(existsSync(`${backup}.lock`)).toBe(false);
});
