import { expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { openUnmoved } from '../../server/storage/sqlite/lock.ts';
import { inOtherProcess, openInFolder, openKeys } from './sqlite.ts';

const isRoot = process.getuid?.() === 0;
/** Without its privileges, root cannot write to a read-only file either. */
const unprivileged = isRoot ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
/** Not every setpriv has these options, and not every container permits them. */
function canDropPrivileges(): boolean {
  if (Bun.which('setpriv') === null) return false;
  return Bun.spawnSync([...unprivileged, 'true']).exitCode === 0;
}
const canTest = process.platform === 'linux' && (!isRoot || canDropPrivileges());

test.if(canTest)('a server that cannot write to the lock file does not start', async () => {
  await using opened = await openInFolder();
  await opened.storage.close();
  chmodSync(`${opened.path}.lock`, 0o400);
  const program = 'await openFile(process.env.DATABASE); process.exit();';
  const child = inOtherProcess(program, { DATABASE: opened.path }, unprivileged);
  expect(await child.exited).toBe(1);
  expect(await child.stderr.text()).toContain(`${opened.path}.lock cannot be used`);
});

test('two commands can open the database at the same time', async () => {
  await using opened = await openInFolder();
  // openKeys() also calls openUnmoved(), so the lock is held twice at the same time.
  const open = () => openKeys(opened.path, { create: false });
  const admin = await openUnmoved(opened.path, open);
  expect(await admin.listKeys()).toEqual([]);
  await admin.close();
});
