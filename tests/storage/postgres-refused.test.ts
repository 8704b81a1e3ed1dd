import { expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { newDatabase, query, settingAs, shadow } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';

/* Database servers and databases that are not supported. */

async function tables(url: string): Promise<number> {
  const text = 'SELECT 1 FROM pg_tables WHERE schemaname = current_schema()';
  return (await query(url, text)).length;
}

test.each([
  ['older than 15', 'server_version_num', '140022', 'PostgreSQL 15 or newer is required'],
  ['with another encoding', 'server_encoding', 'LATIN1', "create a database with ENCODING 'UTF8'"],
])('a server %s is rejected before any table is created', async (_, name, value, advice) => {
  await using database = await newDatabase();
  const url = await shadow(database, [settingAs(name, value)]);
  expect((await rejectionOf(openStorage(url))).message).toContain(advice);
  expect(await tables(url)).toBe(0);
});

test('a database of a newer version of this program is rejected', async () => {
  await using database = await newDatabase();
  await (await openStorage(database.url)).close();
  await query(
    database.url,
    'UPDATE schema_versions SET version = 999' +
      ' WHERE version = (SELECT max(version) FROM schema_versions)',
  );
  expect((await rejectionOf(openStorage(database.url))).message).toContain('schema 999');
});

test('PostgreSQL 15 is accepted', async () => {
  await using database = await newDatabase();
  const url = await shadow(database, [settingAs('server_version_num', '150000')]);
  await (await openStorage(url)).close();
  expect(await tables(url)).toBeGreaterThan(5);
});

test('a standby is rejected, because its data may be outdated', async () => {
  await using database = await newDatabase();
  await (await openStorage(database.url)).close();
  const isStandby = `FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'`;
  const { message } = await rejectionOf(openStorage(await shadow(database, [isStandby])));
  expect(message).toContain('the server is a standby');
});

test('the database in the URL is used even if PGDATABASE names another one', async () => {
  await using database = await newDatabase();
  const { PGDATABASE: before } = process.env;
  process.env.PGDATABASE = 'another';
  try {
    await (await openStorage(database.url)).close();
  } finally {
    if (before === undefined) delete process.env.PGDATABASE;
    else process.env.PGDATABASE = before;
  }
  expect(await tables(database.url)).toBeGreaterThan(5);
});
