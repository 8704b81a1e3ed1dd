import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openAdmin } from '../../server/admin.ts';
import { withFolder } from '../support/folder.ts';
import { newDatabase } from '../support/postgres.ts';
import { backup, folder, path, withFiles } from './files.ts';
import { fill, inOtherProcess, openFile, restore } from './sqlite.ts';

/* Owners and modes of a database's files, which root or another user may administer. */

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
const asNobody = isRoot
  ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
  : [];
/** Not every setpriv has these options, and not every container permits them. */
const canBeNobody =
  isRoot &&
  Bun.which('setpriv') !== null &&
  Bun.spawnSync([...asNobody, process.execPath, '--version']).exitCode === 0;

const opens = 'await (await openFile(process.env.DATABASE)).close(); process.exit();';
const backsUp = "await backUp(process.env.DATABASE, '/memory-backup.db');";
const checks = 'throw JSON.stringify(await diagnoseFile(process.env.DATABASE));';
const restores = 'await restore(process.env.BACKUP, process.env.DATABASE);';

describe('a database that root or another user administers', () => {
  withFiles();

  /** Runs the program as another user than root. Returns its errors, or '' if it succeeds. */
  async function runAsNobody(program: string): Promise<string> {
    const child = inOtherProcess(program, { DATABASE: path, BACKUP: backup }, asNobody);
    return (await child.exited) === 0 ? '' : child.stderr.text();
  }

  function giveToNobody(...names: string[]): void {
    for (const name of names) chownSync(name, nobody, nobody);
  }

  const giveAllToNobody = () =>
    giveToNobody(folder.path, ...readdirSync(folder.path).map((name) => folder.file(name)));

  test('a restored database has the mode of the file that it replaces', async () => {
    chmodSync(path, 0o640);
    await restore(backup, path);
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  describe.if(canBeNobody)('a service that runs as another user', () => {
    test('starts after root has restored its database', async () => {
      giveToNobody(folder.path, path, `${path}.lock`);
      await restore(backup, path);
      const { uid, gid } = statSync(path);
      expect([uid, gid]).toEqual([nobody, nobody]);
      expect(await runAsNobody(opens)).toBe('');
    });

    test('owns a restored database as before, even in a folder of root', async () => {
      giveToNobody(path);
      await restore(backup, path);
      const { uid, gid } = statSync(path);
      expect([uid, gid]).toEqual([nobody, nobody]);
    });

    test('starts after root has restored a database into its folder', async () => {
      rmSync(path);
      rmSync(`${path}.lock`);
      giveToNobody(folder.path);
      await restore(backup, path);
      expect(await runAsNobody(opens)).toBe('');
    });

    test('starts after root has created the database in its folder', async () => {
      rmSync(path);
      rmSync(`${path}.lock`);
      giveToNobody(folder.path);
      await (await openFile(path)).close();
      expect(await runAsNobody(opens)).toBe('');
    });

    test.each([
      ['the database', () => giveToNobody(folder.path, `${path}.lock`), opens],
      ['the database to check', () => giveToNobody(folder.path, `${path}.lock`), checks],
      ['the lock file', () => giveToNobody(folder.path, path), opens],
      ['a backup', () => [giveToNobody(folder.path, path), chmodSync(backup, 0o600)], restores],
      ['the log', () => giveToNobody(folder.path, path, `${path}.restore-lock`), backsUp],
      ['the folder of a backup', giveAllToNobody, backsUp],
      ['a database to restore', () => chmodSync(folder.path, 0o777), restores],
    ])('reports that root owns %s', async (_, prepare, program) => {
      chmodSync(backup, 0o644);
      prepare();
      expect(await runAsNobody(program)).toMatch(
        /permission denied: .*owned by root, running as nobody/,
      );
      expect(statSync(path).size).toBeGreaterThan(0);
    });

    test('reports that root owns the folder', async () => {
      rmSync(`${path}.lock`);
      chmodSync(folder.path, 0o755);
      const reason = 'its folder cannot be written to: permission denied: owned by root';
      expect(await runAsNobody(opens)).toContain(
        `${path}.lock cannot be used: ${reason}, running as nobody`,
      );
    });
  });

  test.if(process.platform === 'linux' && (canBeNobody || !isRoot))(
    'a server that cannot write to its lock file does not start',
    async () => {
      if (isRoot) giveToNobody(folder.path, path, `${path}.lock`);
      chmodSync(`${path}.lock`, 0o400);
      expect(await runAsNobody(opens)).toContain(`${path}.lock cannot be used`);
    },
  );
});

const admin = join(import.meta.dir, '../../server/admin.ts');
const source = withFolder();
await fill(source.file('source.db'), 1);
const database = await newDatabase();
afterAll(database.drop);
await (await openAdmin(database.url)).close();

test.each([
  ['a server', 'await (await openFile(process.env.TARGET)).close(); process.exit();'],
  ['a command', 'await (await openKeys(process.env.TARGET, { create: true })).close();'],
  ['a backup', 'await backUp(process.env.SOURCE, process.env.TARGET);'],
  ['a restore', 'await restore(process.env.SOURCE, process.env.TARGET);'],
  [
    'a copy',
    `import { openCopySides } from '${admin}';
     await openCopySides(process.env.DATABASE, 'sqlite:' + process.env.TARGET, { create: true });
     process.exit();`,
  ],
])('only its owner can read a file that %s creates', async (what, program) => {
  const target = source.file(`${what}.db`);
  // A separate process, because the umask applies to a whole process and is never reset.
  const shell = ['sh', '-c', 'umask 022; exec "$@"', 'sh'];
  const env = { SOURCE: source.file('source.db'), TARGET: target, DATABASE: database.url };
  expect([what, await inOtherProcess(program, env, shell).exited]).toEqual([what, 0]);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});
