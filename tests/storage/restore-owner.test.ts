import { describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, readdirSync, rmSync, statSync } from 'node:fs';
import { backup, folder, path, withFiles } from './files.ts';
import { inOtherProcess, openFile, restore } from './sqlite.ts';

/* Owners and permissions of a database that root or another user administers. */

const nobody = 65_534;
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
const canTest =
  process.getuid?.() === 0 &&
  Bun.which('setpriv') !== null &&
  Bun.spawnSync([...asNobody, process.execPath, '--version']).exitCode === 0;

const opens = 'await (await openFile(process.env.DATABASE)).close(); process.exit();';
const backsUp = "await backUp(process.env.DATABASE, '/memory-backup.db');";
const restores = 'await restore(process.env.BACKUP, process.env.DATABASE);';

withFiles();

/** Runs the program as another user. Returns its errors, or '' if it succeeds. */
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

describe.if(canTest)('a service that runs as another user', () => {
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
