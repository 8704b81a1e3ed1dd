import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { openAdmin } from '../../server/admin.ts';
import { canMountTmpfs, mountTmpfs } from '../faults/mounts.ts';
import { diagnoseFile } from '../storage/sqlite.ts';
import { backend } from '../support/backend.ts';
import { withFolder } from '../support/folder.ts';
import { withServer } from '../support/server.ts';
import { doctor, expectRan, memory } from './command.ts';
import { shellAt } from './shell.ts';

const folder = withFolder();
const server = await withServer();
await server.client.save({ userId: 'u', content: 'kept' });

/** Backups require SQLite. */
const ofFile = test.skipIf(backend !== 'sqlite');

const on = (url: string) => ['--database', url];

ofFile('a backup of a running server is restored elsewhere, and a damaged one is not', async () => {
  const file = folder.file('backup.db');
  const made = await memory(['backup', file, '--json', ...on(server.databaseUrl)]);
  expect(made.code).toBe(0);
  expect(JSON.parse(made.stdout)).toMatchObject({ file, memories: 1 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const path = folder.file('a new folder/copy.db');
  const copy = `sqlite:${path}`;
  expect(await memory(['restore', file, ...on(copy)])).toEqual({
    code: 0,
    stderr:
      `Restored 1 memory to ${path}.\n` +
      `Keys revoked and users erased since the backup are not known: there is no database at ${path}.\n`,
    stdout: `${path}\n`,
  });
  const { stderr } = await memory(['restore', file, ...on(copy)]);
  const [, kept = ''] = /^The previous database was kept as (.+)$/m.exec(stderr) ?? [];
  expect(existsSync(kept)).toBe(true);
  expectRan(await memory(['restore', file, ...on(server.databaseUrl)]), 1, 'already using');
  const broken = folder.file('broken.db');
  await Bun.write(broken, 'not a database, but long enough to look at '.repeat(100));
  expectRan(await memory(['restore', broken, ...on(copy)]), 1, 'not an intact backup');
  const { code, items } = await doctor(copy);
  expect(code).toBe(0);
  expect(new Set(items.map(({ level }) => level))).toEqual(new Set(['ok']));
});

describe.skipIf(backend !== 'sqlite')('a backup to stdout', () => {
  const shell = shellAt(server);
  const backup = () => `TMPDIR=${folder.path} $MEMORY backup - --database ${server.databaseUrl}`;
  const leftOver = () => readdirSync(folder.path).filter((name) => name.startsWith('memory-'));

  test('can be restored from stdin, with the messages on stderr', async () => {
    const copy = `sqlite:${folder.file('piped.db')}`;
    const restore = `TMPDIR=${folder.path} $MEMORY restore - --json --database ${copy}`;
    const ran = await shell(`${backup()} | gzip | gunzip | ${restore}`).ended;
    expectRan(ran, 0, /^Backed up 1 memory\.\n$/);
    expect(JSON.parse(ran.stdout)).toMatchObject({ file: '-', memories: 1, kept: null });
    expect(await doctor(copy)).toMatchObject({ code: 0 });
    expect(leftOver()).toEqual([]);
  });

  test.each([
    ['is cut short', 'head -c 50000', 'Error: The input is not an intact backup'],
    ['is empty', 'head -c 0', 'Error: The input is not a backup: it is empty'],
  ])('is not restored if it %s', async (_, filter, words) => {
    const path = folder.file('refused.db');
    const restore = `TMPDIR=${folder.path} $MEMORY restore - --database ${path}`;
    expectRan(await shell(`${backup()} | ${filter} | ${restore}`).ended, 1, words);
    expect(existsSync(path)).toBe(false);
    expect(leftOver()).toEqual([]);
  });

  test('fails if its reader closes the pipe or the disk is full', async () => {
    expectRan(await shell(`exec 3> >(true); wait $!; ${backup()} >&3`).ended, 1, 'is incomplete');
    expectRan(await shell(`${backup()} > /dev/full`).ended, 1, 'ENOSPC');
    expect(leftOver()).toEqual([]);
  });

  test.if(canMountTmpfs())('and a restore name the folder whose disk is too full', async () => {
    const { folder: small, unmount } = mountTmpfs(1);
    try {
      const full = `dd if=/dev/zero of=${small}/ballast status=none; export TMPDIR=${small}`;
      const [url, file] = [server.databaseUrl, folder.file('whole.db')];
      const copy = `--database sqlite:${folder.file('none.db')}`;
      const into = (file: string) => `backup ${file} --database ${url}`;
      expect((await memory(into(file).split(' '))).code).toBe(0);
      for (const command of [
        into(`${small}/b.db`),
        into('-'),
        `restore ${file} --database sqlite:${small}/r.db`,
        `restore - ${copy} <${file}`,
      ]) {
        const ran = await shell(`${full}; exec $MEMORY ${command}`).ended;
        expectRan(ran, 1, `the disk of ${small}`);
        expect(ran.stderr).toContain('is too full for ');
      }
    } finally {
      unmount();
    }
  });
});

ofFile('a folder is neither a database nor a backup, and is not replaced', async () => {
  const place = folder.file('place');
  mkdirSync(place);
  const file = folder.file('for-a-folder.db');
  await memory(['backup', file, ...on(server.databaseUrl)]);
  const found = `the database ${place} cannot be opened: it is a folder`;
  expectRan(await memory(['restore', file, ...on(place)]), 1, found);
  const target = on(folder.file('of-a-folder.db'));
  expectRan(
    await memory(['restore', place, ...target]),
    1,
    `${place} is not a backup: it is a folder`,
  );
  expect((await doctor(place)).items).toEqual([{ name: 'database', level: 'failure', found }]);
  expect(statSync(place).isDirectory()).toBe(true);
});

ofFile('doctor reports a running server and a current schema', async () => {
  const { find } = await doctor(server.databaseUrl);
  expect(find('server')?.found).toBe('running');
  const found = expect.stringMatching(/^schema \d+, SQLite \d/);
  expect(find('version')).toEqual({ name: 'version', level: 'ok', found });
  const unused = `sqlite:${folder.file('unused.db')}`;
  await memory(['keys', 'create', ...on(unused)]);
  expect((await doctor(unused)).find('server')?.found).toBe('not running');
});

ofFile('doctor counts only keys that are in use', async () => {
  const path = folder.file('keys.db');
  const admin = await openAdmin(`sqlite:${path}`);
  const now = Date.now();
  const create = (expiresAt: number | null = null) =>
    admin.createKey({ name: 'n', project: 'default', expiresAt });
  const { id } = await create();
  for (const expiresAt of [null, now + 1, now + 60_000]) await create(expiresAt);
  await admin.revokeKey(id);
  await admin.close();
  const keysAt = async (at: number) =>
    (await diagnoseFile(path, at)).find(({ name }) => name === 'keys');
  expect(await keysAt(now)).toEqual({ name: 'keys', level: 'ok', found: '3 in use' });
  expect(await keysAt(now + 1)).toEqual({ name: 'keys', level: 'ok', found: '2 in use' });
});

ofFile('doctor warns about a file that its group can read, and about a full disk', async () => {
  const copy = folder.file("all users' readable.db");
  await memory(['backup', copy, ...on(server.databaseUrl)]);
  chmodSync(copy, 0o640);
  const { bavail, bsize } = statfsSync(folder.path);
  // A sparse file: the database with its log is larger than the free space.
  await Bun.write(`${copy}-wal`, '');
  truncateSync(`${copy}-wal`, bavail * bsize + 2 ** 30);
  const { items, find } = await doctor(`sqlite:${copy}`);
  const levels = items.map(({ name, level }) => `${name} ${level}`);
  const names = ['permissions', 'disk', 'write-ahead log'];
  expect(levels).toEqual(expect.arrayContaining(names.map((name) => `${name} warning`)));
  const [, advised = ''] = /run: (.+)$/.exec(find('permissions')?.advice ?? '') ?? [];
  expect(Bun.spawnSync(['sh', '-c', advised]).exitCode).toBe(0);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
});

ofFile('an interrupted backup to stdout writes nothing more: exit 130', async () => {
  const around = { interrupted: AbortSignal.abort('SIGINT') };
  const ran = await memory(['backup', '-', ...on(server.databaseUrl)], around);
  expect(ran).toMatchObject({ code: 130, stdout: '' });
});

ofFile('doctor counts the write-ahead log, and warns if it has 256 MB', async () => {
  const copy = folder.file('long-log.db');
  await memory(['backup', copy, ...on(server.databaseUrl)]);
  const limit = 256 * 1024 * 1024;
  await Bun.write(`${copy}-wal`, '');
  for (const bytes of [limit - 1, limit]) {
    // A sparse file, which takes no space on the disk.
    truncateSync(`${copy}-wal`, bytes);
    const { find } = await doctor(`sqlite:${copy}`);
    expect(find('write-ahead log')).toMatchObject({ level: bytes < limit ? 'ok' : 'warning' });
    const size = (statSync(copy).size + bytes) / 1024 / 1024;
    expect(find('disk')?.found).toContain(`the database uses ${size.toFixed(1)} MiB`);
    expect(existsSync(`${copy}-wal`)).toBe(true);
  }
});
