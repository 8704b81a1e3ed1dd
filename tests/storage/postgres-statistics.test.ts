import { expect, test } from 'bun:test';
import { newWholeDatabase, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { memory, newProject, record } from './fixtures.ts';
import { isDistributed } from './plans.ts';
import { openWithFastTimers } from './postgres.ts';

test('tables are analyzed soon after they have grown, and small tables are not', async () => {
  // A database of its own, because other tests analyze all tables of the shared database.
  const database = await newWholeDatabase();
  // On Citus, the workers' own autovacuum analyzes the tables.
  if (await isDistributed(database)) return database.drop();
  const { url, drop } = database;
  const storage = await openWithFastTimers(url, 100);
  const project = await newProject({ storage });
  await project.accept(Array.from({ length: 1_200 }, () => record()));
  const analyzed = async () => {
    // A PostgreSQL session reports its rows with a later statement, at most once a second.
    await project.save(memory());
    const text = `SELECT relname FROM pg_stat_user_tables
      WHERE schemaname = current_schema() AND last_analyze IS NOT NULL ORDER BY relname`;
    const rows = await query(url, text);
    return rows.length > 1 ? rows.map(({ relname }) => relname) : null;
  };
  const tables = await until(analyzed, { what: 'the analysis' });
  await storage.close();
  await drop();
  expect(tables).toEqual(['memories', 'tasks']);
});
