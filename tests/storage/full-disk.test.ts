import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* A disk that becomes full during a commit of several writes. */

/** Limits the size of the writer's database. A write over the limit fails as on a full disk. */
const smallDisk = `
  import { Database } from 'bun:sqlite';
  const { run } = Database.prototype;
  Database.prototype.run = function runOnSmallDisk(sql, ...more) {
    if (sql === 'PRAGMA wal_autocheckpoint = 0') run.call(this, 'PRAGMA max_page_count = 100');
    return run.call(this, sql, ...more);
  };`;

test('a write that fills the disk is rejected as unavailable if it shares a commit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-full-'));
  const preload = join(folder, 'small-disk.ts');
  await Bun.write(preload, smallDisk);
  await using opened = await openInFolder({ preload: [preload] });
  rmSync(folder, { recursive: true });
  const project = await newProject(opened);
  const small = project.save(memory()).then(
    () => 1,
    () => 0,
  );
  const error = await rejectionOf(project.save(memory({ content: 'x'.repeat(1_000_000) })));
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(error.message).toBe('the disk is full; nothing was stored');
  expect(await project.list()).toHaveLength(await small);
});
