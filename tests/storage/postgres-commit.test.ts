import { expect, test } from 'bun:test';
import { createTrigger, newWholeDatabase, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newProject } from './fixtures.ts';
import { openInSchema } from './postgres.ts';

test('writes wait for the disk even if the database is set to synchronous_commit = off', async () => {
  const database = await newWholeDatabase();
  await query(database.url, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);
  await using opened = await openInSchema({ database });
  const project = await newProject(opened);
  // Stores the setting of the session that inserts the memory.
  await createTrigger(
    database.url,
    'BEFORE INSERT ON memories',
    `NEW.metadata := json_build_object('commit', current_setting('synchronous_commit'))::text;`,
  );
  await project.save(memory());
  const text = `SELECT metadata::json ->> 'commit' AS commit FROM memories`;
  const stored = await query(database.url, text);
  expect(stored).toEqual([{ commit: 'on' }]);
});

/** Opens a storage whose first COMMIT of a new memory fails with this SQLSTATE. */
async function openWithFailingCommit(code: string) {
  const opened = await openInSchema();
  await query(opened.url, 'CREATE SEQUENCE commits');
  await createTrigger(
    opened.url,
    'AFTER INSERT ON memories DEFERRABLE INITIALLY DEFERRED',
    `IF nextval('commits') = 1 THEN RAISE 'failed' USING ERRCODE = '${code}'; END IF;`,
  );
  return opened;
}

test.each([
  ['part of the database cannot be reached', '08006'],
  ['the session ends', '57P01'],
  ['the server ends an idle transaction', '25P03'],
])('a save has an unknown outcome if %s during COMMIT', async (_, code) => {
  await using opened = await openWithFailingCommit(code);
  const project = await newProject(opened);
  // A second attempt would store the memory.
  expect(await rejectionOf(project.save(memory()))).toMatchObject({
    code: 'internal',
    message: expect.stringContaining('the outcome is unknown'),
  });
});

test('a save is repeated if its COMMIT conflicts with another transaction', async () => {
  await using opened = await openWithFailingCommit('40001');
  const project = await newProject(opened);
  await project.save(memory());
  expect(await project.list()).toHaveLength(1);
});
