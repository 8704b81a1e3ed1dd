import { expect, test } from 'bun:test';
import { endSessions, newWholeDatabase, postgresUrl, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { imported, memory, newProject } from './fixtures.ts';
import { openInSchema } from './postgres.ts';
import { opened, project, withStorage } from './suite.ts';

/* The rows of users: their change numbers, when they are removed, and their order. */

withStorage(openInSchema);

test('a search sees that another server has erased the user and created it again', async () => {
  await project.save(memory({ content: 'old lantern' }));
  expect(await project.search('lantern')).toHaveLength(1);
  await project.erase();
  await project.save(memory({ content: 'new lantern' }));
  // A recreated user starts at a random change number, which may be lower than the previous one.
  await query(opened.url, 'UPDATE memories SET last_change = 1');
  await query(opened.url, 'UPDATE users SET last_change = 1');
  const found = await project.search('lantern');
  expect(found.map(({ content }) => content)).toEqual(['new lantern']);
});

test('the database keeps no id of a user without memories', async () => {
  const [deleted, kept] = [memory({ userId: 'gone 1' }), memory({ userId: 'kept' })];
  await project.save(deleted);
  await project.save(kept);
  await project.save(memory({ userId: 'gone 2', expiresAt: 5_000 }));
  await project.remove(deleted.id);
  await opened.storage.maintain({ now: 5_000, elapsedMs: 0 });
  // The id is in use, so the import stores nothing.
  await project.import([imported({ id: kept.id, userId: 'gone 3' })]);
  const text = `SELECT user_id FROM users WHERE user_id LIKE 'gone%'`;
  expect(await query(opened.url, text)).toEqual([]);
});

test('after a failover that has lost a save, a search finds the save that replaces it', async () => {
  const { url } = opened;
  await project.save(memory({ content: 'first lantern' }));
  await query(url, 'CREATE TABLE former AS SELECT * FROM users');
  await project.save(memory({ content: 'lost lantern' }));
  expect(await project.search('lantern')).toHaveLength(2);
  // The rows of the asynchronous standby. A failover ends all sessions.
  await query(url, `DELETE FROM memories WHERE content = 'lost lantern'`);
  await query(url, 'DELETE FROM users');
  await query(url, 'INSERT INTO users SELECT * FROM former');
  const [row] = await query(url, 'SELECT to_regnamespace(current_schema())::oid AS schema');
  await endSessions(url, `memory reader ${row?.schema}`);
  await project.save(memory({ content: 'new lantern' }));
  const found = await until(() => project.search('lantern').catch(() => null));
  expect(found.map(({ content }) => content).sort()).toEqual(['first lantern', 'new lantern']);
});

test('users are listed in bytewise order in a database with a linguistic collation', async () => {
  const base = await postgresUrl();
  // A server at TEST_POSTGRES_URL may have been built without ICU.
  const icu = await query(base, `SELECT 1 FROM pg_collation WHERE collprovider = 'i' LIMIT 1`);
  if (icu.length === 0) return;
  const options = `TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'`;
  await using own = await openInSchema({ database: await newWholeDatabase(options) });
  const project = await newProject(own);
  for (const userId of ['b', 'ä', 'B', 'a']) await project.save(memory({ userId }));
  const { items } = await project.users();
  expect(items.map(({ userId }) => userId)).toEqual(['B', 'a', 'b', 'ä']);
});
