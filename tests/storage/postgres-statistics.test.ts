import { expect, test } from 'bun:test';
import { newDatabase, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { imported, memory, newProject } from './fixtures.ts';
import { isDistributed } from './plans.ts';
import { openWithFastTimers } from './postgres.ts';

test('a table is analyzed soon after it has grown, and a small table is not', async () => {
  const database = await newDatabase();
  // On Citus, the workers' own autovacuum analyzes the tables.
  if (await isDistributed(database)) return database.drop();
  const { url, drop } = database;
  const storage = await openWithFastTimers(url, 100);
  const project = await newProject({ storage });
  await project.import(Array.from({ length: 1_200 }, () => imported()));
  const analyzed = async () => {
    // A PostgreSQL session reports its rows with a later statement, at most once a second.
    await project.save(memory());
    const text = `SELECT relname FROM pg_stat_user_tables
      WHERE schemaname = current_schema() AND last_analyze IS NOT NULL`;
    const rows = await query(url, text);
    return rows.length > 0 ? rows.map(({ relname }) => relname) : null;
  };
  const tables = await until(analyzed, { what: 'the analysis' });
  await storage.close();
  await drop();
  expect(tables).toEqual(['memories']);
});
