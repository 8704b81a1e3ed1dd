import { expect, test } from 'bun:test';
import { openCopySide } from '../../server/storage/postgres/admin/copy.ts';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';

test('a copy detects a server that starts during the copy, but ignores servers on other schemas', async () => {
  const [database, another] = [await newDatabase(), await newDatabase()];
  const elsewhere = await openPostgres(another.url);
  const side = await openCopySide(database.url, { create: true });
  const storage = await openPostgres(database.url);
  // Simulate a server that was killed: its lease on the cleanup has expired.
  await query(database.url, `UPDATE maintenance SET held_until = NULL WHERE name = 'turn'`);
  const message = 'a server is using the database';
  expect((await rejectionOf(side.assertUnused())).message).toContain(message);
  await storage.close();
  await side.assertUnused();
  side.close();
  await elsewhere.close();
  for (const { drop } of [database, another]) await drop();
});
