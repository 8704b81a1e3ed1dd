import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readFileSync, renameSync } from 'node:fs';
import { doctor, openAdmin, openCopySides } from '../../server/admin.ts';
import { openStorage } from '../../server/storage/open.ts';
import { temporaryFolder } from '../support/folder.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { rowsOf } from '../support/rows.ts';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newProject } from './fixtures.ts';
import { openFile, openInFolder } from './sqlite.ts';

/* Databases of an earlier schema version. */

test('a file of the first migration gets the later ones and keeps its memories', async () => {
  using folder = temporaryFolder();
  const path = folder.file('memory.db');
  const { id } = memory();
  const external = { source: 'desk', externalId: 'x'.repeat(100) };
  const first = await openFile(path);
  await (await newProject({ storage: first }, 'p')).save(memory({ id, ...external }));
  await first.close();
  toFirstVersion(path);
  // What earlier versions have stored for a long external id.
  await rowsOf(`sqlite:${path}`, `UPDATE memories SET external_key = 'ANc7C3tT0sgSaqtI0KXHGp'`);
  const storage = await openFile(path);
  const project = await newProject({ storage }, 'p');
  await project.save(memory({ ...external, content: 'a lantern' }));
  expect((await project.search('lantern')).map((found) => found.id)).toEqual([id]);
  await project.remove(id);
  expect(await project.search('lantern')).toEqual([]);
  await storage.close();
});

test('commands for keys and doctor do not upgrade a file that a server of an older version may have open', async () => {
  await using opened = await openInFolder();
  await opened.storage.close();
  toFirstVersion(opened.path);
  await useKeys(opened.url);
  using db = new Database(opened.path);
  expect(db.prepare('PRAGMA user_version').values()).toEqual([[5]]);
  opened.storage = await openFile(opened.path);
});

test('neither commands for keys nor a refused copy upgrade a shared database', async () => {
  await using database = await newDatabase();
  const { url } = database;
  await (await openStorage(url)).close();
  await query(url, 'DELETE FROM schema_versions WHERE version > 7');
  await query(url, 'DROP TABLE vector_parts');
  await useKeys(url);
  await query(url, 'INSERT INTO turns VALUES ($1, $2, $3)', [
    'cleanup',
    'old',
    Date.now() + 60_000,
  ]);
  const copying = openCopySides(url, 'sqlite:/nowhere/none.db', { create: false });
  expect((await rejectionOf(copying)).message).toContain('a server is using the database');
  const versions = await query(url, 'SELECT version FROM schema_versions');
  expect(versions).toEqual([{ version: 7 }]);
});

async function useKeys(url: string): Promise<void> {
  const admin = await openAdmin(url);
  const { id } = await admin.createKey({ name: 'n', project: 'p' });
  await admin.revokeKey(id);
  expect(await admin.listKeys()).toMatchObject([{ id, revokedAt: expect.any(Number) }]);
  await admin.close();
  const isFailure = ({ level }: { level: string }) => level === 'failure';
  expect((await doctor(url)).filter(isFailure)).toEqual([]);
}

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
  db.run('PRAGMA application_id = 0x6d656d6f');
  db.run('PRAGMA user_version = 5');
}
