import { expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { openUnmoved } from '../../server/storage/sqlite/lock.ts';
import { openInFolder, openKeys } from './sqlite.ts';

const isRoot = process.getuid?.() === 0;
/** Without its privileges, root cannot write to a read-only file either. */
const unprivileged = isRoot ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
/** Not every setpriv has these options, and not every container permits them. */
function canDropPrivileges(): boolean {
  if (Bun.which('setpriv') === null) return false;
  return Bun.spawnSync([...unprivileged, 'true']).exitCode === 0;
}
const canTest = process.platform === 'linux' && (!isRoot || canDropPrivileges());

/** A program that opens the database. */
const program = `
  import { openFile } from '${join(import.meta.dir, 'sqlite.ts')}';
  await openFile(process.env.DATABASE);
  process.exit();
`;

test.if(canTest)('a server that cannot write to the lock file does not start', async () => {
  await using opened = await openInFolder();
  await opened.storage.close();
  chmodSync(`${opened.path}.lock`, 0o400);
  const env = { ...process.env, DATABASE: opened.path };
  const child = Bun.spawnSync([...unprivileged, process.execPath, '-e', program], { env });
  expect(child.exitCode).toBe(1);
  expect(child.stderr.toString()).toContain(`${opened.path}.lock cannot be used`);
});

test('two commands can open the database at the same time', async () => {
  await using opened = await openInFolder();
  // openKeys() also calls openUnmoved(), so the lock is held twice at the same time.
  const open = () => openKeys(opened.path, { create: false });
  const admin = await openUnmoved(opened.path, open);
  expect(await admin.listKeys()).toEqual([]);
  await admin.close();
});
