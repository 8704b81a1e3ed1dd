import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fill } from './sqlite.ts';

const sqlite = join(import.meta.dir, '../../server/storage/sqlite');
const folder = mkdtempSync(join(tmpdir(), 'memory-private-'));
beforeAll(() => fill(join(folder, 'source.db'), 1));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [
    'a server',
    `import { openSqlite } from '${sqlite}/open.ts';
     await (await openSqlite(process.env.TARGET)).close();
     process.exit();`,
  ],
  [
    'a backup',
    `import { backupDatabase } from '${sqlite}/admin/backup.ts';
     backupDatabase(process.env.SOURCE, process.env.TARGET);`,
  ],
  [
    'a restore',
    `import { restoreDatabase } from '${sqlite}/admin/restore.ts';
     const options = { stamp: 'now', now: 1_000, eraseAgain: false };
     restoreDatabase(process.env.SOURCE, process.env.TARGET, options);`,
  ],
  [
    'a copy',
    `import { openCopySide } from '${sqlite}/admin/copy.ts';
     openCopySide(process.env.TARGET, { create: true }).close();`,
  ],
])('only its owner can read a file that %s creates', async (what, program) => {
  const [source, target] = [join(folder, 'source.db'), join(folder, `${what}.db`)];
  // A separate process, because the umask applies to a whole process and is never reset.
  const shell = ['sh', '-c', 'umask 022; exec "$@"', 'sh', process.execPath, '-e', program];
  const env = { ...process.env, SOURCE: source, TARGET: target };
  expect([what, Bun.spawnSync(shell, { env }).exitCode]).toEqual([what, 0]);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});
