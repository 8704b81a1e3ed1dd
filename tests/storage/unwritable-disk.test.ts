import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Storage } from '../../server/storage/storage.ts';
import { canMountTmpfs, type Mount, mountTmpfs, sh } from '../faults/mounts.ts';
import { temporaryFolder } from '../support/folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { countIn, diagnoseFile, fill, openFile, saveMany, saveOne } from './sqlite.ts';

/* A storage that is opened on a disk without space, or on a read-only one. */

const megabytes = 2;

describe.if(canMountTmpfs())('a storage', () => {
  let mount: Mount;
  let path: string;
  beforeEach(() => {
    mount = mountTmpfs(megabytes);
    path = join(mount.folder, 'memory.db');
  });
  let storage: Storage | null = null;
  afterEach(async () => {
    await close();
    mount.unmount();
  });

  async function close(): Promise<void> {
    await storage?.close();
    storage = null;
  }

  const remount = (option: string) => sh('mount', '-o', `remount,${option}`, mount.folder);

  function fillDisk(): void {
    // Without a count, dd stops when the file system is full.
    Bun.spawnSync(['dd', 'if=/dev/zero', `of=${join(mount.folder, 'ballast')}`, 'bs=4096']);
  }

  /** Leaves the files of a killed server, with the last writes in the log only. */
  async function fillAndKill(parts: string[]): Promise<void> {
    const running = await openFile(path);
    await saveMany(running, 3);
    for (const part of parts) copyFileSync(path + part, join(mount.folder, `killed${part}`));
    await running.close();
    rmSync(path);
    for (const part of parts) sh('mv', join(mount.folder, `killed${part}`), path + part);
  }

  /** Another process would keep its own index of the log. Returns why it cannot read, or ''. */
  function readByAnotherProcess(): string {
    const program = `
      const { Database } = require('bun:sqlite');
      new Database(process.env.DATABASE).query('SELECT count(*) FROM memories').get();
    `;
    const env = { ...process.env, DATABASE: path };
    const { stderr } = Bun.spawnSync([process.execPath, '-e', program], { env });
    return stderr.toString();
  }

  async function expectReadOnly(storage: Storage, fault: string): Promise<void> {
    expect((await storage.health()).fault).toBe(fault);
    expect((await rejectionOf(saveOne(storage))).message).toBe(`${fault}; nothing was stored`);
    const page = { order: 'userId', limit: 10, after: null } as const;
    const all = { projectId: 1, now: 2_000, onlyUserId: null, ...page };
    const { users } = await storage.listUsers(all);
    expect(users).toMatchObject([{ memories: 3 }]);
  }

  test.each([
    ['stopped', () => fill(path, 3)],
    ['killed', () => fillAndKill(['', '-wal'])],
  ])('of a %s server opens on a full disk, and writes once there is space', async (_, prepare) => {
    await prepare();
    fillDisk();
    const warnings: string[] = [];
    storage = await openFile(path, { warn: (message) => warnings.push(message) });
    await expectReadOnly(storage, 'the disk is full');
    expect(warnings).toEqual([expect.stringContaining('the disk is full')]);
    remount(`size=${megabytes * 4}m`);
    await until(async () => (await storage?.health())?.fault === null);
    await saveMany(storage, 20);
    expect(readByAnotherProcess()).toContain('database is locked');
    await close();
    expect(readByAnotherProcess()).toBe('');
    expect(countIn(path)).toBe(23);
  });

  test('of a killed server opens on a read-only file system', async () => {
    await fillAndKill(['', '-wal', '-shm']);
    remount('ro');
    storage = await openFile(path);
    await expectReadOnly(storage, 'the database is read-only');
    const findings = (await diagnoseFile(path)).map(({ name, found }) => `${name}: ${found}`);
    expect(findings).toContain('server: unknown: the file system is read-only');
    expect(findings).toContain('structure: sound');
    await close();
    remount('rw');
    storage = await openFile(path);
    await close();
    expect(countIn(path)).toBe(3);
  });

  test('of a running server is examined through a read-only mount, and not opened', async () => {
    storage = await openFile(path);
    using folder = temporaryFolder();
    sh('mount', '--bind', mount.folder, folder.path);
    try {
      sh('mount', '-o', 'remount,bind,ro', folder.path);
      const findings = await diagnoseFile(folder.file('memory.db'));
      expect(findings).toContainEqual({ name: 'server', level: 'ok', found: 'running' });
      const { message } = await rejectionOf(openFile(folder.file('memory.db')));
      expect(message).toContain('a server is already using');
    } finally {
      // While the lock is held, SQLite keeps the other connection's file open.
      await close();
      sh('umount', folder.path);
    }
  });

  test.each([
    ['a stopped server', () => fill(path, 3)],
    ['a killed server without the index of its log', () => fillAndKill(['', '-wal'])],
  ])('of %s does not open on a read-only file system', async (_, prepare) => {
    await prepare();
    remount('ro');
    const error = await rejectionOf(openFile(path));
    expect(error.message).toContain('the file system is read-only');
  });
});
