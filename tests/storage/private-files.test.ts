import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAdmin } from '../../server/admin.ts';
import { newDatabase, type TestDatabase } from '../support/postgres.ts';
import { fill, inOtherProcess } from './sqlite.ts';

const admin = join(import.meta.dir, '../../server/admin.ts');
const folder = mkdtempSync(join(tmpdir(), 'memory-private-'));
let database: TestDatabase;
beforeAll(async () => {
  await fill(join(folder, 'source.db'), 1);
  database = await newDatabase();
  await (await openAdmin(database.url)).close();
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ['a server', 'await (await openFile(process.env.TARGET)).close(); process.exit();'],
  ['a backup', 'await backUp(process.env.SOURCE, process.env.TARGET);'],
  ['a restore', 'await restore(process.env.SOURCE, process.env.TARGET);'],
  [
    'a copy',
    `import { openCopySides } from '${admin}';
     await openCopySides(process.env.DATABASE, 'sqlite:' + process.env.TARGET, { create: true });
     process.exit();`,
  ],
])('only its owner can read a file that %s creates', async (what, program) => {
  const [from, target] = [join(folder, 'source.db'), join(folder, `${what}.db`)];
  // A separate process, because the umask applies to a whole process and is never reset.
  const shell = ['sh', '-c', 'umask 022; exec "$@"', 'sh'];
  const env = { SOURCE: from, TARGET: target, DATABASE: database.url };
  expect([what, await inOtherProcess(program, env, shell).exited]).toEqual([what, 0]);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});
