import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import {
  chownSync,
  existsSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { lockForMoving, tryLock } from '../../server/storage/sqlite/lock.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';
import { healthy } from './health.ts';
import { scrubbed } from './scrub.ts';
import {
  countIn,
  inOtherProcess,
  type OpenedFile,
  openFile,
  openInFolder,
  openKeys,
  saveMany,
  saveOne,
  withSmallFiles,
} from './sqlite.ts';

/* The files of a running storage: locks, modes, the write-ahead log, and moved files. */

const logBytes = ({ path }: OpenedFile) => statSync(`${path}-wal`).size;

test('a second server is rejected, even if it opens the file under another path', async () => {
  await using opened = await openInFolder();
  symlinkSync(opened.path, `${opened.path}.link`);
  for (const name of [opened.path, `${opened.path}.link`]) {
    const { message } = await rejectionOf(openFile(name));
    expect(message).toContain('a server is already using');
    expect(message).toContain('or use another database');
  }
  await saveOne(opened.storage);
});

test('two commands can open the database at the same time', async () => {
  await using opened = await openInFolder();
  const other = tryLock(`${opened.path}.restore-lock`, opened.path, { shared: true });
  const admin = await openKeys(opened.path, { create: false });
  expect(await admin.listKeys()).toEqual([]);
  await admin.close();
  other?.close(true);
});

test('no command can open the database while a restore moves its files', async () => {
  await using opened = await openInFolder();
  const lock = () => tryLock(`${opened.path}.restore-lock`, opened.path, { shared: true });
  const restore = lockForMoving(opened.path);
  expect(lock()).toBeNull();
  restore[Symbol.dispose]();
  const other = lock();
  expect(other).not.toBeNull();
  other?.close(true);
});

test("a database's files are readable only by their owner", async () => {
  await using opened = await openInFolder();
  for (const suffix of ['', '-wal', '.lock']) {
    expect(statSync(opened.path + suffix).mode & 0o777).toBe(0o600);
  }
});

test.skipIf(process.getuid?.() !== 0)(
  'the lock file that root creates belongs to the database owner',
  async () => {
    await using opened = await openInFolder();
    await opened.storage.close();
    rmSync(`${opened.path}.lock`, { force: true });
    const owner = { uid: 12_345, gid: 23_456 };
    chownSync(opened.path, owner.uid, owner.gid);
    opened.storage = await openFile(opened.path);
    expect(statSync(`${opened.path}.lock`)).toMatchObject(owner);
  },
);

test('a log that grew during a long read is truncated afterwards', async () => {
  await using opened = await openInFolder();
  const content = 'a long text '.repeat(100_000);
  const write = () => saveOne(opened.storage, { content });
  const beside = new Database(opened.path);
  beside.run('BEGIN');
  beside.prepare('SELECT count(*) FROM memories').get();
  const grown = 80 * 1024 * 1024;
  while (logBytes(opened) <= grown) await Promise.all([write(), write(), write(), write()]);
  beside.run('END');
  beside.close(true);
  const isShort = async () => {
    await write();
    return logBytes(opened) < grown / 2;
  };
  await until(isShort, { what: 'a short log' });
});

for (const moved of ['', '-wal']) {
  const what = moved === '' ? 'file' : 'log';
  test(`writes are rejected while the database ${what} is moved away, and accepted afterwards`, async () => {
    await using opened = await openInFolder();
    const project = await newProject(opened);
    const [before, refused, after] = [memory(), memory(), memory()];
    await project.save(before);
    const name = opened.path + moved;
    renameSync(name, `${name}.away`);
    expect(await rejectionOf(project.save(refused))).toMatchObject({ code: 'unavailable' });
    const fault = async () => (await opened.storage.health()).fault;
    expect(await until(fault, { what: 'a fault' })).toContain(`${name} was moved`);
    expect(await project.get(before.id)).not.toBeNull();
    expect(existsSync(name)).toBe(false);
    renameSync(`${name}.away`, name);
    await healthy(opened.storage);
    await project.save(after);
    const ids = (await project.list()).map(({ id }) => id).sort();
    expect(ids).toEqual([before.id, after.id].sort());
  });
}

test('writes are unavailable while another program holds a lock, and the probes leave no data', async () => {
  await using opened = await openInFolder();
  using other = new Database(opened.path);
  other.run('BEGIN IMMEDIATE');
  expect(await rejectionOf(saveOne(opened.storage))).toMatchObject({ code: 'unavailable' });
  expect((await opened.storage.health()).fault).toContain('locked by another program');
  other.run('COMMIT');
  await healthy(opened.storage);
  expect((await saveOne(opened.storage)).response.status).toBe(201);
  const left = other.prepare(`SELECT value FROM maintenance WHERE name = 'probe'`).all();
  expect(left).toEqual([]);
});

/** A program that saves until a save is rejected, and prints the outcome of each save. */
const savesUntilRejected = `
  const storage = await openFile(process.env.DATABASE);
  const content = 'x'.repeat(100_000);
  const save = () => saveOne(storage, { content }).then(() => 'stored', (error) => error.message);
  const outcomes = [];
  while (outcomes.length < 100 && !outcomes.at(-1)?.includes('nothing')) {
    outcomes.push(await save());
  }
  console.log(JSON.stringify(outcomes));
  process.exit();`;

test('after a disk error, writes are rejected, and no acknowledged memory is lost', async () => {
  await using opened = await openInFolder();
  await opened.storage.close();
  const child = inOtherProcess(savesUntilRejected, { DATABASE: opened.path }, withSmallFiles);
  const outcomes: string[] = JSON.parse(await child.stdout.text());
  expect(outcomes.at(-1)).toBe('the disk reported an error; nothing was stored');
  const stored = outcomes.filter((outcome) => outcome === 'stored').length;
  const unknown = outcomes.filter((outcome) => outcome.includes('outcome is unknown')).length;
  expect([stored > 0, stored + unknown]).toEqual([true, outcomes.length - 1]);
  opened.storage = await openFile(opened.path);
  const count = countIn(opened.path);
  expect(count).toBeGreaterThanOrEqual(stored);
  expect(count).toBeLessThanOrEqual(stored + unknown);
});

test('a write-ahead log that has grown very long is reported and explained', async () => {
  await using opened = await openInFolder();
  await saveOne(opened.storage);
  truncateSync(opened.path, 20 * 1024 * 1024);
  const warning = async () => (await opened.storage.health()).warning;
  // SQLite ignores the rest of the file, which takes no space on the disk.
  truncateSync(`${opened.path}-wal`, 256 * 1024 * 1024);
  expect(await warning()).toBeNull();
  truncateSync(`${opened.path}-wal`, 300 * 1024 * 1024);
  const check = opened.storage.findDamage();
  expect(await warning()).toContain('the check of the file, which began with the service,');
  expect(await check).toEqual([]);
  expect(await warning()).toBe(
    'the write-ahead log has grown to 300 MB: a read transaction has been open for too long',
  );
  expect((await saveOne(opened.storage)).response.status).toBe(201);
});

test('close() ends the check for damage of a large file', async () => {
  await using opened = await openInFolder();
  await saveMany(opened.storage, 20, 'x'.repeat(1_000_000));
  // Closing moves the memories from the log to the file.
  await opened.reopen();
  const check = rejectionOf(opened.storage.findDamage());
  await opened.storage.close();
  expect((await check).message).toContain('the integrity thread exited');
  opened.storage = await openFile(opened.path);
});

test('close() rejects the searches that wait for a reader thread', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  // A project may use at most eight threads at a time, so most of the searches wait.
  const searches = Promise.allSettled(Array.from({ length: 50 }, () => project.search('text')));
  await opened.reopen();
  const rejected = (await searches).filter(({ status }) => status === 'rejected');
  expect(rejected.length).toBeGreaterThan(40);
  for (const one of rejected) expect(one).toMatchObject({ reason: { code: 'unavailable' } });
});

test('an existing project is found while another program holds the write lock', async () => {
  await using opened = await openInFolder();
  const projectId = await opened.storage.ensureProject('p');
  using other = new Database(opened.path);
  other.run('BEGIN IMMEDIATE');
  expect(await opened.storage.ensureProject('p')).toBe(projectId);
  other.run('ROLLBACK');
});

test('after a scrub, writes still wait for a short transaction of another program', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  await project.save(memory());
  await project.erase();
  await scrubbed(opened);
  using other = new Database(opened.path);
  other.run('BEGIN IMMEDIATE');
  const saving = project.save(memory());
  await Bun.sleep(200);
  other.run('COMMIT');
  expect((await saving).response.status).toBe(201);
});

test('searches and saves that begin after close() are rejected', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  const closed = opened.storage.close();
  expect(await rejectionOf(project.search('text'))).toMatchObject({ code: 'unavailable' });
  await closed;
  const { message } = await rejectionOf(saveOne(opened.storage));
  expect(message).toBe('the service is shutting down; nothing was stored');
});
