import { expect, test } from 'bun:test';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import { newWholeDatabase, query } from '../support/postgres.ts';
import { memory, newProject } from './fixtures.ts';

test('writes wait for the disk even if the database is set to synchronous_commit = off', async () => {
  const database = await newWholeDatabase();
  await query(database.url, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);
  const storage = await openPostgres(database.url);
  const project = await newProject({
    storage,
    reopen: async () => storage,
    dispose: async () => {},
  });
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
