import { afterAll, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openAdmin } from '../../server/admin.ts';
import { withFolder } from '../support/folder.ts';
import { newDatabase } from '../support/postgres.ts';
import { fill, inOtherProcess } from './sqlite.ts';

const admin = join(import.meta.dir, '../../server/admin.ts');
const folder = withFolder();
await fill(folder.file('source.db'), 1);
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
  const [from, target] = [folder.file('source.db'), folder.file(`${what}.db`)];
  // A separate process, because the umask applies to a whole process and is never reset.
  const shell = ['sh', '-c', 'umask 022; exec "$@"', 'sh'];
  const env = { SOURCE: from, TARGET: target, DATABASE: database.url };
  expect([what, await inOtherProcess(program, env, shell).exited]).toEqual([what, 0]);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});
