import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import { memory, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/** A log of this length is restarted, unless the database file may be incomplete. */
const longBytes = 8_000 * 4_096;

test('after a failed sync the log is kept, until the next start writes it again', async () => {
  await using opened = await openInFolder({ preload: [join(import.meta.dir, 'unsynced-file.ts')] });
  const project = await newProject(opened);
  const logBytes = () => statSync(`${opened.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const content = 'a long text '.repeat(80_000);
  const save = () => project.save(memory({ content }));
  let saved = 0;
  while (logBytes() < 2 * longBytes) saved += (await Promise.all([save(), save()])).length;
  expect((await opened.storage.health()).warning).toContain('the disk did not take');
  const beside = new Database(opened.path, { readonly: true });
  const log = beside.prepare('PRAGMA wal_checkpoint(NOOP)').get();
  expect(log).toMatchObject({ checkpointed: 0 });
  beside.close(true);
  await opened.storage.close();
  expect(logBytes()).toBeGreaterThan(longBytes);
  opened.storage = await openSqlite(opened.path);
  expect((await project.users()).items).toMatchObject([{ memories: saved }]);
});
