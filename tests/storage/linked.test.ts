import { expect, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { canMountTmpfs, sh } from '../faults/mounts.ts';
import { temporaryFolder } from '../support/folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { healthy } from './health.ts';
import {
  backUp,
  countIn,
  diagnoseFile,
  fill,
  openFile,
  openInFolder,
  openKeys,
  restore,
  saveMany,
  saveOne,
} from './sqlite.ts';

/* A database file that is removed, replaced, mounted, or moved while its log stays with a link. */

/** Moves the file to another folder, and leaves a link in its place. */
function moveBehindLink(path: string): string {
  const target = join(dirname(path), 'elsewhere', 'memory.db');
  mkdirSync(dirname(target));
  renameSync(path, target);
  symlinkSync(target, path);
  return target;
}

test('writes are rejected while a link is in the place of the open file', async () => {
  await using opened = await openInFolder();
  const { storage, path } = opened;
  await saveOne(storage);
  const target = moveBehindLink(path);
  const fault = await until(async () => (await storage.health()).fault);
  expect(fault).toContain(`${path} was replaced`);
  expect((await rejectionOf(saveOne(storage))).message).toContain('nothing was stored');
  renameSync(target, path);
  await healthy(storage);
  await saveOne(storage);
});

test('the doctor looks for a server next to the file, not next to a link', async () => {
  await using opened = await openInFolder();
  const link = `${opened.path}.link`;
  symlinkSync(opened.path, link);
  const found = await diagnoseFile(link);
  expect(found).toContainEqual({ name: 'server', level: 'ok', found: 'running' });
});

test.each<[name: string, act: (path: string) => void]>([
  ['removed', (path) => rmSync(path)],
  ['removed with its log', (path) => [path, `${path}-wal`].map((name) => rmSync(name))],
  ['replaced', (path) => renameSync(`${path}.other`, path)],
])('writes are rejected after the open file was %s', async (_, act) => {
  await using opened = await openInFolder();
  const { storage, path } = opened;
  await saveOne(storage);
  await backUp(path, `${path}.other`);
  act(path);
  for (const error of await Promise.all([1, 2, 3].map(() => rejectionOf(saveOne(storage))))) {
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(error.message).toContain('nothing was stored');
  }
  expect((await storage.health()).fault).toMatch(/ was (moved or removed|replaced) while /);
});

test('a link whose target lacks the log is not opened by a start or a command', async () => {
  await using opened = await openInFolder();
  const { storage, path } = opened;
  await saveMany(storage, 3);
  const backup = join(dirname(path), 'backup.db');
  await backUp(path, backup);
  // The files of a killed server, next to a link to another link.
  const killed = join(dirname(path), 'killed.db');
  for (const part of ['', '-wal']) copyFileSync(path + part, killed + part);
  const target = moveBehindLink(killed);
  const link = join(dirname(path), 'link.db');
  symlinkSync('killed.db', link);
  const reason = `${killed} is a link to ${target}, but ${killed}-wal contains the latest writes`;
  expect((await rejectionOf(openFile(link))).message).toContain(reason);
  expect((await rejectionOf(openKeys(link, { create: false }))).message).toContain(reason);
  expect((await rejectionOf(backUp(link, join(dirname(path), 'copy.db')))).message).toContain(
    reason,
  );
  expect((await rejectionOf(restore(backup, link))).message).toContain(reason);
  expect(JSON.stringify(await diagnoseFile(link))).toContain(reason);
  expect(existsSync(`${target}-wal`)).toBe(false);
  expect(Bun.file(`${killed}-wal`).size).toBeGreaterThan(0);
  // The advice of the error.
  renameSync(`${killed}-wal`, `${target}-wal`);
  await (await openFile(link)).close();
  expect(countIn(target)).toBe(3);
});

test.if(canMountTmpfs())('a file that is mounted without its folder is not opened', async () => {
  using folder = temporaryFolder();
  const path = folder.file('memory.db');
  const backup = folder.file('backup.db');
  await fill(path, 3);
  await backUp(path, backup);
  const inside = folder.file('a folder\\of a container');
  mkdirSync(inside);
  const mounted = join(inside, 'memory.db');
  copyFileSync(path, mounted);
  sh('mount', '--bind', path, mounted);
  try {
    const reason = `${mounted} is mounted alone, without its write-ahead log`;
    expect((await rejectionOf(openFile(mounted))).message).toContain(reason);
    expect((await rejectionOf(restore(backup, mounted))).message).toContain(reason);
    expect((await diagnoseFile(mounted))[0]?.found).toContain(reason);
    expect(readdirSync(inside)).toEqual(['memory.db']);
    await (await openFile(path)).close();
  } finally {
    sh('umount', mounted);
  }
  await (await openFile(mounted)).close();
});
