import { afterAll } from 'bun:test';
import { newProject, type OpenStorage } from './fixtures.ts';
import { openPostgresStorage } from './postgres.ts';
import { openSqliteStorage } from './sqlite.ts';

/** Rows of a test that runs on both databases. */
export const databases: [name: string, open: OpenStorage][] = [
  ['SQLite', openSqliteStorage],
  ['PostgreSQL', openPostgresStorage],
];

/** Opens an empty storage on each database at the top of a test file, with a project in each. */
export async function openBoth() {
  const opened = await Promise.all([openSqliteStorage(), openPostgresStorage()]);
  afterAll(async () => {
    for (const one of opened) await one.dispose();
  });
  const projects = await Promise.all([newProject(opened[0]), newProject(opened[1])]);
  return { opened, projects };
}
