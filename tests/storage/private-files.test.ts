import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAdmin } from '../../server/admin.ts';
import { newDatabase, type TestDatabase } from '../support/postgres.ts';
import { fill } from './sqlite.ts';

const source = join(import.meta.dir, 'sqlite.ts');
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
  [
    'a server',
    `import { openFile } from '${source}';
     await (await openFile(process.env.TARGET)).close();
     process.exit();`,
  ],
  [
    'a backup',
    `import { backUp } from '${source}';
     await backUp(process.env.SOURCE, process.env.TARGET);`,
  ],
  [
    'a restore',
    `import { restore } from '${source}';
     await restore(process.env.SOURCE, process.env.TARGET);`,
  ],
  [
    'a copy',
    `import { openCopySides } from '${admin}';
     await openCopySides(process.env.DATABASE, 'sqlite:' + process.env.TARGET, { create: true });
     process.exit();`,
  ],
])('only its owner can read a file that %s creates', async (what, program) => {
  const [from, target] = [join(folder, 'source.db'), join(folder, `${what}.db`)];
  // A separate process, because the umask applies to a whole process and is never reset.
  const shell = ['sh', '-c', 'umask 022; exec "$@"', 'sh', process.execPath, '-e', program];
  const env = { ...process.env, SOURCE: from, TARGET: target, DATABASE: database.url };
  expect([what, Bun.spawnSync(shell, { env }).exitCode]).toEqual([what, 0]);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});
