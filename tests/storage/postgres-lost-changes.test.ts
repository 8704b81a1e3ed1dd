import { expect, test } from 'bun:test';
import { query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';
import { openInSchema } from './postgres.ts';

test('after a failover that has lost a save, a search finds the save that replaces it', async () => {
  await using opened = await openInSchema();
  const { url } = opened;
  const project = await newProject(opened);
  await project.save(memory({ content: 'first lantern' }));
  await query(url, 'CREATE TABLE former AS SELECT * FROM users');
  await project.save(memory({ content: 'lost lantern' }));
  expect(await project.search('lantern')).toHaveLength(2);
  // The rows of the asynchronous standby. A failover ends all sessions.
  await query(url, `DELETE FROM memories WHERE content = 'lost lantern'`);
  await query(url, 'DELETE FROM users');
  await query(url, 'INSERT INTO users SELECT * FROM former');
  await query(
    url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE application_name = concat('memory reader ', to_regnamespace(current_schema())::oid)`,
  );
  await project.save(memory({ content: 'new lantern' }));
  const found = await until(() => project.search('lantern').catch(() => null));
  expect(found.map(({ content }) => content).sort()).toEqual(['first lantern', 'new lantern']);
});
