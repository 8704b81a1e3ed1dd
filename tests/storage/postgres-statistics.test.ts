import { expect, test } from 'bun:test';
import { newWholeDatabase, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { memory, newProject, record } from './fixtures.ts';
import { hasCitus } from './plans.ts';
import { openInSchema, openWithFastTimers } from './postgres.ts';

test('tables are analyzed soon after they have grown, and small tables are not', async () => {
  // A database of its own, because other tests analyze all tables of the shared database.
  const database = await newWholeDatabase();
  // On Citus, the workers' own autovacuum analyzes the tables.
  if (await hasCitus(database)) return database.drop();
  const open = (url: string) => openWithFastTimers(url, 100);
  await using opened = await openInSchema({ database, open });
  const project = await newProject(opened);
  await project.accept(Array.from({ length: 1_200 }, () => record()));
  const analyzed = async (count: number) => {
    // A PostgreSQL session reports its rows with a later statement, at most once a second.
    await project.save(memory());
    const text = `SELECT relname AS name, analyze_count::int AS times FROM pg_stat_user_tables
      WHERE schemaname = current_schema() AND last_analyze IS NOT NULL ORDER BY relname`;
    const rows = await query(database.url, text);
    return rows.length < count ? null : rows;
  };
  const first = await until(() => analyzed(2), { what: 'the analysis' });
  // With many users, two tables have twice as many rows, and one has grown from none.
  await project.accept(Array.from({ length: 1_200 }, (_, n) => record({ userId: `u-${n}` })));
  const second = await until(() => analyzed(3), { what: 'the analysis of the users' });
  const once = (name: string) => ({ name, times: 1 });
  expect(first).toEqual(['memories', 'tasks'].map(once));
  expect(second).toEqual(['memories', 'tasks', 'users'].map(once));
});
