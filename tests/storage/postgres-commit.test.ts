import { expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { newDatabase, newWholeDatabase, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newProject } from './fixtures.ts';

test('writes wait for the disk even if the database is set to synchronous_commit = off', async () => {
  const database = await newWholeDatabase();
  await query(database.url, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);
  const storage = await openStorage(database.url);
  const project = await newProject({ storage });
  // Stores the setting of the session that inserts the memory.
  await query(
    database.url,
    `CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       NEW.metadata := json_build_object('commit', current_setting('synchronous_commit'))::text;
       RETURN NEW;
     END $$`,
  );
  await query(
    database.url,
    `CREATE TRIGGER note_commit BEFORE INSERT ON memories
     FOR EACH ROW EXECUTE FUNCTION note_commit()`,
  );
  await project.save(memory());
  const text = `SELECT metadata::json ->> 'commit' AS commit FROM memories`;
  const stored = await query(database.url, text);
  await storage.close();
  await database.drop();
  expect(stored).toEqual([{ commit: 'on' }]);
});

/** Opens a storage in which each COMMIT of a new memory runs these PL/pgSQL statements. */
async function openWithCommit(statements: string) {
  const { url, drop } = await newDatabase();
  const storage = await openStorage(url);
  await query(url, 'CREATE SEQUENCE commits');
  await query(
    url,
    `CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       ${statements} RETURN NULL;
     END $$`,
  );
  await query(
    url,
    `CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON memories
     DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()`,
  );
  const project = await newProject({ storage });
  return {
    project,
    async [Symbol.asyncDispose]() {
      await storage.close();
      await drop();
    },
  };
}

test.each([
  ['part of the database cannot be reached', '08006'],
  ['the session ends', '57P01'],
  ['the server ends an idle transaction', '25P03'],
])('a save has an unknown outcome if %s during COMMIT', async (_, code) => {
  // A second attempt would store the memory.
  await using context = await openWithCommit(
    `IF nextval('commits') = 1 THEN RAISE 'failed' USING ERRCODE = '${code}'; END IF;`,
  );
  expect(await rejectionOf(context.project.save(memory()))).toMatchObject({
    code: 'internal',
    message: expect.stringContaining('the outcome is unknown'),
  });
});

test('a save is repeated if its COMMIT conflicts with another transaction', async () => {
  await using context = await openWithCommit(
    `IF nextval('commits') = 1 THEN RAISE 'conflict' USING ERRCODE = '40001'; END IF;`,
  );
  await context.project.save(memory());
  expect(await context.project.list()).toHaveLength(1);
});
