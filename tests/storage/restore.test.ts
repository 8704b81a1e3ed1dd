import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { backupDatabase, restoreDatabase } from '../../server/storage/sqlite/backup.ts';
import { diagnose } from '../../server/storage/sqlite/doctor.ts';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import { memory, save } from './fixtures.ts';

/* What a restore meets: logs that were left, others who read, disks that fail. */

let folder: string;
let path: string;
let backup: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'memory-restore-'));
  path = join(folder, 'memory.db');
  backup = join(folder, 'backup.db');
  await fill(path, 3);
  backupDatabase(path, backup);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function fill(file: string, count: number): Promise<void> {
  const storage = openSqlite(file, { exclusive: true });
  for (let n = 0; n < count; n += 1) await save(storage, memory({ content: `text ${n}` }));
  await storage.close();
}

/** As a killed server leaves it: what was written last is in the log alone. */
async function leaveLog(file: string, count: number): Promise<void> {
  const storage = openSqlite(path, { exclusive: true });
  for (let n = 0; n < count; n += 1) await save(storage, memory({ content: `late ${n}` }));
  for (const part of ['', '-wal']) copyFileSync(path + part, `${folder}/killed.db${part}`);
  await storage.close();
  for (const part of ['', '-wal']) renameSync(`${folder}/killed.db${part}`, file + part);
}

function countIn(file: string): number {
  const db = new Database(file, { readonly: true });
  try {
    expect(db.prepare('PRAGMA integrity_check').values()).toEqual([['ok']]);
    const { n } = db.prepare('SELECT count(*) AS n FROM memories').get() as { n: number };
    return n;
  } finally {
    // Else it stays open until it is collected.
    db.close(true);
  }
}

test('a log that was left without its file is set aside, not taken for the restored one', async () => {
  await leaveLog(path, 40);
  rmSync(path);
  const { memories, kept } = restoreDatabase(backup, path, 'now');
  expect(memories).toBe(3);
  expect(kept).toBe(`${path}.before-now-wal`);
  expect(existsSync(kept ?? '')).toBe(true);
  expect(countIn(path)).toBe(3);
});

test('what was there is kept whole, its log included', async () => {
  await leaveLog(path, 40);
  const { kept } = restoreDatabase(backup, path, 'now');
  expect(countIn(kept ?? '')).toBe(43);
  expect(countIn(path)).toBe(3);
});

test('a file too broken to be opened is kept with its log', async () => {
  await leaveLog(path, 40);
  writeFileSync(path, 'no database at all '.repeat(1_000));
  restoreDatabase(backup, path, 'now');
  expect(countIn(path)).toBe(3);
  const kept = readdirSync(folder).filter((name) => name.includes('.before-now'));
  const bytes = kept.map((name) => readFileSync(join(folder, name), 'latin1')).join('');
  expect(bytes).toContain('late 39');
});

test('nothing is changed while another program has the file open', () => {
  const other = new Database(path, { readonly: true });
  const read = other.prepare('SELECT count(*) FROM memories');
  read.get();
  expect(() => restoreDatabase(backup, path, 'now')).toThrow('another program has');
  read.finalize();
  other.close(true);
  expect(readdirSync(folder).filter((name) => /before|restoring/.test(name))).toEqual([]);
  expect(countIn(path)).toBe(3);
  expect(restoreDatabase(backup, path, 'later').memories).toBe(3);
});

test('a backup with a log of its own is restored with what is in it', async () => {
  const crashed = join(folder, 'crashed.db');
  await leaveLog(crashed, 20);
  expect(restoreDatabase(crashed, join(folder, 'new.db'), 'now').memories).toBe(23);
  expect(countIn(join(folder, 'new.db'))).toBe(23);
});

test('a restored database is for its owner alone, whatever the backup was', () => {
  const open = join(folder, 'open.db');
  copyFileSync(backup, open);
  chmodSync(open, 0o644);
  restoreDatabase(open, path, 'now');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a restore that was ended between its two moves is no empty database at the next start', () => {
  renameSync(path, `${path}.before-now`);
  copyFileSync(backup, `${path}.restoring`);
  expect(() => openSqlite(path, { exclusive: true })).toThrow('a restore did not end');
  expect(existsSync(path)).toBe(false);
  // Neither is it after another one that fails.
  expect(() => restoreDatabase(join(folder, 'none.db'), path, 'later')).toThrow('no backup');
  writeFileSync(join(folder, 'bad.db'), 'no database at all '.repeat(1_000));
  expect(() => restoreDatabase(join(folder, 'bad.db'), path, 'later')).toThrow(
    'not a sound backup',
  );
  expect(() => openSqlite(path, { exclusive: true })).toThrow('a restore did not end');
  // What was on its way is as good as the backup.
  restoreDatabase(`${path}.restoring`, path, 'later');
  expect(countIn(path)).toBe(3);
  expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([]);
});

test('a journal that a fault left is set aside, not rolled into the restored file', () => {
  const other = new Database(join(folder, 'other.db'));
  other.run('PRAGMA journal_mode = DELETE');
  other.run('CREATE TABLE t (x)');
  other.run('BEGIN');
  other.run('INSERT INTO t VALUES (1)');
  copyFileSync(join(folder, 'other.db-journal'), `${path}-journal`);
  other.run('ROLLBACK');
  other.close(true);
  rmSync(path);
  restoreDatabase(backup, path, 'now');
  expect(existsSync(`${path}-journal`)).toBe(false);
  expect(existsSync(`${path}.before-now-journal`)).toBe(true);
  expect(countIn(path)).toBe(3);
});

test('a backup that cannot be written leaves nothing behind', () => {
  const sick = join(folder, 'sick.db');
  writeFileSync(sick, 'no database at all '.repeat(1_000));
  expect(() => backupDatabase(sick, join(folder, 'copy.db'))).toThrow();
  expect(readdirSync(folder).filter((name) => name.startsWith('copy.db'))).toEqual([]);
});

test('a backup removes what others of its name left that were killed, and nothing else', () => {
  const target = join(folder, 'copy.db');
  const ended = Bun.spawnSync(['true']).pid;
  const [orphan, running] = [`${target}.${ended}.partial`, `${target}.${process.ppid}.partial`];
  for (const name of [orphan, `${orphan}-journal`, running]) writeFileSync(name, 'half');
  backupDatabase(path, target);
  const left = readdirSync(folder).filter((name) => name.includes('.partial'));
  expect(left).toEqual([basename(running)]);
});

test('an empty file is no backup, and no sound database', () => {
  writeFileSync(backup, '');
  expect(() => restoreDatabase(backup, path, 'now')).toThrow(
    `${backup} is not a backup: it is empty`,
  );
  expect(countIn(path)).toBe(3);
  writeFileSync(path, '');
  const finding = diagnose(path, Date.now()).find(({ name }) => name === 'database');
  expect(finding).toMatchObject({ level: 'failure', found: 'the file is empty' });
  expect(finding?.advice).toContain('memory restore <backup>');
});

for (const lost of ['missing', 'empty']) {
  test(`a log whose file is ${lost} is not thrown away`, async () => {
    await leaveLog(path, 40);
    const { size } = statSync(`${path}-wal`);
    rmSync(path);
    if (lost === 'empty') writeFileSync(path, '');
    for (const exclusive of [true, false]) {
      expect(() => openSqlite(path, { exclusive })).toThrow('is missing or empty');
    }
    const link = join(folder, 'link.db');
    symlinkSync(path, link);
    expect(() => backupDatabase(link, join(folder, 'copy.db'))).toThrow();
    expect(JSON.stringify(diagnose(path, Date.now()))).toContain('is missing or empty');
    expect(statSync(`${path}-wal`).size).toBe(size);
  });
}

test('a second name by a hard link is refused, under both names', () => {
  const second = join(folder, 'second.db');
  linkSync(path, second);
  for (const name of [path, second]) {
    expect(() => openSqlite(name, { exclusive: true })).toThrow('another name by a hard link');
  }
});

test('a link that leads to nothing yet is the file that it leads to', async () => {
  const link = join(folder, 'link.db');
  const file = join(folder, 'elsewhere.db');
  symlinkSync('elsewhere.db', link);
  const storage = openSqlite(link, { exclusive: true });
  try {
    await save(storage, memory({ content: 'a' }));
    expect(() => openSqlite(file, { exclusive: true })).toThrow('already running');
  } finally {
    await storage.close();
  }
  expect(countIn(file)).toBe(1);
});

test('a link is followed as the system does, and not for ever', async () => {
  const deep = join(folder, 'x', 'y');
  mkdirSync(deep, { recursive: true });
  symlinkSync('../else.db', join(deep, 'm.db'));
  symlinkSync('x/y', join(folder, 'short'));
  await fill(join(folder, 'short', 'm.db'), 1);
  expect(countIn(join(folder, 'x', 'else.db'))).toBe(1);
  const loop = join(folder, 'loop.db');
  symlinkSync('loop.db', loop);
  expect(() => openSqlite(loop, { exclusive: true })).toThrow('a link that leads to no file');
});

test('a file of another program is called that, whatever version it bears', () => {
  const foreign = join(folder, 'foreign.db');
  const db = new Database(foreign);
  db.run('CREATE TABLE t (x)');
  db.run('PRAGMA user_version = 7');
  db.close(true);
  expect(() => openSqlite(foreign, { exclusive: true })).toThrow('of another program');
  // Nor is it one to be replaced by a backup.
  expect(JSON.stringify(diagnose(foreign, Date.now()))).not.toContain('memory restore');
});
