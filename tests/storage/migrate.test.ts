import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memory, newProject } from './fixtures.ts';
import { openFile } from './sqlite.ts';

/* A database file of an earlier schema version is served, with all it contains. */

test('a file of the first migration gets the later ones and keeps its memories', async () => {
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

/** Replaces the file with one of the first migration alone, which has the same rows. */
function toFirstVersion(path: string): void {
  const present = `${path}-present`;
  renameSync(path, present);
  using db = new Database(path);
  db.run(readFileSync('server/storage/sqlite/sql/001-schema.sql', 'utf8'));
  db.run(`ATTACH '${present}' AS present`);
  const tables = db.prepare<{ name: string }, []>(
    `SELECT name FROM main.sqlite_schema WHERE type = 'table'`,
  );
  const columns = db.prepare<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)');
  for (const { name } of tables.all()) {
    const list = columns.all(name).map((column) => column.name);
    db.run(`DELETE FROM main.${name}`);
    db.run(`INSERT INTO main.${name} (${list}) SELECT ${list} FROM present.${name}`);
  }
  const { application_id: id } = db.prepare('PRAGMA present.application_id').get() as Row;
  db.run(`PRAGMA application_id = ${id}`);
  db.run('PRAGMA user_version = 5');
}

type Row = { application_id: number };
