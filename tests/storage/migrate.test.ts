import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memory, newProject } from './fixtures.ts';
import { openFile } from './sqlite.ts';

/* A database file of an earlier schema version is served, with all it contains. */

test('a file without the tables of later migrations gets them and keeps its memories', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-migrate-'));
  const path = join(folder, 'memory.db');
  try {
    const { id } = memory();
    const first = await openFile(path);
    await (await newProject({ storage: first }, 'p')).save(memory({ id, content: 'a lantern' }));
    await first.close();
    toFirstVersion(path);
    const storage = await openFile(path);
    const project = await newProject({ storage }, 'p');
    expect((await project.search('lantern')).map((found) => found.id)).toEqual([id]);
    await project.remove(id);
    expect(await project.search('lantern')).toEqual([]);
    await storage.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Makes the file what the first migration alone creates. */
function toFirstVersion(path: string): void {
  using db = new Database(path);
  db.run('DROP TABLE vector_parts');
  db.run('PRAGMA user_version = 5');
}
