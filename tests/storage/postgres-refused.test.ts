import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { newDatabase, postgresUrl, query, type TestDatabase } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';

/* Unsupported database servers. Each setting is simulated by shadowing `current_setting`. */

let database: TestDatabase;
let schema: string;
let url: URL;

beforeEach(async () => {
  database = await newDatabase();
  url = new URL(database.url);
  schema = url.searchParams.get('search_path') ?? '';
  url.searchParams.set('search_path', `${schema},pg_catalog`);
});
afterEach(() => database.drop());

async function report(name: string, value: string): Promise<void> {
  await query(
    await postgresUrl(),
    `CREATE FUNCTION ${schema}.current_setting(name text) RETURNS text LANGUAGE sql AS $$
       SELECT CASE name WHEN '${name}' THEN '${value}' ELSE pg_catalog.current_setting(name) END
     $$`,
  );
}

async function tables(): Promise<number> {
  const text = `SELECT count(*)::int4 AS n FROM pg_tables WHERE schemaname = $1`;
  const [row] = await query(await postgresUrl(), text, [schema]);
  return Number(row?.n);
}

test.each([
  ['older than 15', 'server_version_num', '140022', 'PostgreSQL 15 or newer is required'],
  ['with another encoding', 'server_encoding', 'LATIN1', "create a database with ENCODING 'UTF8'"],
])('a server %s is rejected before any table is created', async (_, name, value, advice) => {
  await report(name, value);
  expect((await rejectionOf(openStorage(url.href))).message).toContain(advice);
  expect(await tables()).toBe(0);
});

test('a database of a newer version of this program is rejected', async () => {
  await (await openStorage(url.href)).close();
  await query(
    url.href,
    'UPDATE schema_versions SET version = 999' +
      ' WHERE version = (SELECT max(version) FROM schema_versions)',
  );
  expect((await rejectionOf(openStorage(url.href))).message).toContain('schema 999');
});

test('PostgreSQL 15 is accepted', async () => {
  await report('server_version_num', '150000');
  const storage = await openStorage(url.href);
  await storage.close();
  expect(await tables()).toBeGreaterThan(5);
});

test('a standby is rejected, because its data may be outdated', async () => {
  await (await openStorage(url.href)).close();
  await query(
    await postgresUrl(),
    `CREATE FUNCTION ${schema}.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
  );
  const { message } = await rejectionOf(openStorage(url.href));
  expect(message).toContain('the server is a standby');
});

test('the database in the URL is used even if PGDATABASE names another one', async () => {
  const { PGDATABASE: before } = process.env;
  process.env.PGDATABASE = 'another';
  try {
    await (await openStorage(url.href)).close();
  } finally {
    if (before === undefined) delete process.env.PGDATABASE;
    else process.env.PGDATABASE = before;
  }
  expect(await tables()).toBeGreaterThan(5);
});
