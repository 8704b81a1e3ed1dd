import { afterAll, expect, test } from 'bun:test';
import { startServer } from '../../server/main.ts';
import { newDatabase, postgresUrl, query, type TestDatabase } from '../support/postgres.ts';
import { doctor, lines, memory } from './command.ts';

/* Tests of the administrative commands on a PostgreSQL database. */

const database = await newDatabase();
afterAll(database.drop);
const on = ['--database', database.url];

test("keys list fails on a database without the service's tables", async () => {
  const { code, stdout, stderr } = await memory(['keys', 'list', ...on]);
  expect(stderr).toMatch(/No database found at postgres:\/\/postgres@[^ ]*\.\n/);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const inQuery = `${database.url}&password=postgres`;
  const other = await memory(['keys', 'list', '--database', inQuery]);
  expect(other.stderr).toContain('&password=….\n');
});

test('keys are created, listed and revoked', async () => {
  const made = await memory(['keys', 'create', '--json', '--name', 'first', ...on]);
  expect(made).toMatchObject({ code: 0 });
  const { id } = JSON.parse(made.stdout);
  const { stdout } = await memory(['keys', 'list', '--json', ...on]);
  expect(JSON.parse(stdout).items).toMatchObject([{ id, name: 'first', revokedAt: null }]);
  expect(await memory(['keys', 'revoke', id, ...on])).toMatchObject({ code: 0 });
});

test('doctor counts only keys that are in use', async () => {
  await using own = await newDatabase();
  const flags = ['--database', own.url];
  const create = () => memory(['keys', 'create', '--json', ...flags]);
  const { id } = JSON.parse((await create()).stdout);
  await create();
  await create();
  await memory(['keys', 'revoke', id, ...flags]);
  const { find } = await doctor(own.url);
  expect(find('keys')).toMatchObject({ level: 'ok', found: '2 in use' });
});

test('servers that start at the same time on an empty database share it', async () => {
  const empty = await newDatabase();
  const env = {
    LOG_LEVEL: 'silent',
    MEMORY_API_KEY: 'a-key-for-two-servers',
    MEMORY_EMBEDDINGS: 'off',
  };
  const start = () => startServer({ env, port: 0, databaseUrl: empty.url });
  const servers = await Promise.all([start(), start(), start()]);
  const headers = {
    authorization: `Bearer ${env.MEMORY_API_KEY}`,
    'content-type': 'application/json',
  };
  const [first, second, third] = servers;
  const body = JSON.stringify({ userId: 'u', content: 'seen by all' });
  const saved = await fetch(`${first?.url}/v1/memories`, { method: 'POST', headers, body });
  const { id } = (await saved.json()) as { id: string };
  for (const { url } of [second, third].filter((one) => one !== undefined)) {
    expect((await fetch(`${url}/v1/memories/${id}`, { headers })).status).toBe(200);
    const search = await fetch(`${url}/v1/memories/search?userId=u&query=seen`, { headers });
    expect(await search.json()).toMatchObject({ items: [{ id }] });
  }
  for (const server of servers) await server.stop();
  await empty.drop();
});

test('doctor runs the PostgreSQL checks and reports no problem', async () => {
  await memory(['keys', 'create', ...on]);
  const { code, items } = await doctor(database.url);
  expect(items.map(({ name, level }) => `${name} ${level}`)).toEqual([
    'version ok',
    'durability ok',
    'standbys ok',
    'clock ok',
    'connections ok',
    'transactions ok',
    'replication slots ok',
    'consistency ok',
    'keys ok',
    'queue ok',
    'dead rows ok',
  ]);
  expect(code).toBe(0);
});

test('doctor warns if commits do not wait for a connected synchronous standby', async () => {
  await using own = await newDatabase();
  const there = await shadow(own, [
    settingAs('synchronous_standby_names', 'any 1 (*)'),
    'VIEW pg_stat_replication AS SELECT 1',
    `VIEW pg_settings AS SELECT 'synchronous_commit' AS name, 'local' AS reset_val`,
  ]);
  expect((await doctor(there)).find('standbys')).toEqual({
    name: 'standbys',
    level: 'warning',
    found: '1 connected, synchronous: any 1 (*)',
    advice: expect.stringContaining('set synchronous_commit = on'),
  });
});

test('doctor warns if dead rows reach 100% of a table', async () => {
  await using own = await newDatabase();
  const schema = new URL(own.url).searchParams.get('search_path');
  await memory(['keys', 'create', '--database', own.url]);
  // Shadows PostgreSQL's statistics. The percentage is of the live rows plus 10,000.
  const counts = `SELECT '${schema}' AS schemaname, 20000 AS n_dead_tup, 10000 AS n_live_tup`;
  const there = await shadow(own, [`VIEW pg_stat_user_tables AS ${counts}`]);
  expect((await doctor(there)).find('dead rows')).toEqual({
    name: 'dead rows',
    level: 'warning',
    found: 'at most 100% of any table',
    advice: expect.stringContaining('autovacuum'),
  });
});

test.each([
  [['backup', 'backup.db'], 'pg_dump'],
  [['restore', 'backup.db'], 'pg_restore'],
])('%p names the tool to use instead', async (argv, message) => {
  const { code, stdout, stderr } = await memory([...argv, ...on]);
  expect(lines(stderr)[0]).toContain(message);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});

test.each([
  ['keys list', 'postgres://me:secret@127.0.0.1:1/x'],
  ['keys list', 'postgres://me:other@secret@127.0.0.1:1/x'],
  ['doctor', 'postgres://me@tenant:secret@127.0.0.1:1/x'],
  ['serve', 'postgres://me@127.0.0.1:1/x?password=secret'],
])('memory %s does not print the password of the unreachable %s', async (command, nowhere) => {
  const { code, stdout, stderr } = await memory([...command.split(' '), '--database', nowhere]);
  expect(stdout + stderr).toContain('the database cannot be reached');
  expect(stdout + stderr).not.toContain('secret');
  expect(code).toBe(1);
});

/** Shadows objects of PostgreSQL's catalog, and returns a URL whose sessions see the shadows. */
async function shadow({ url: from }: TestDatabase, definitions: string[]): Promise<string> {
  const url = new URL(from);
  const schema = url.searchParams.get('search_path');
  for (const text of definitions) {
    await query(await postgresUrl(), `CREATE ${text.replace(' ', ` ${schema}.`)}`);
  }
  url.searchParams.set('search_path', `${schema},pg_catalog`);
  return url.href;
}

const settingAs = (name: string, value: string) =>
  `FUNCTION current_setting(name text) RETURNS text LANGUAGE sql AS $$
     SELECT CASE name WHEN '${name}' THEN '${value}' ELSE pg_catalog.current_setting(name) END $$`;

test.each([
  ['fsync', 'off', 'durability', 'set fsync = on'],
  ['full_page_writes', 'off', 'durability', 'set full_page_writes = on'],
  ['synchronous_standby_names', 'any 1 (*)', 'standbys', 'every write waits for a standby'],
])('doctor fails if %s is %s', async (setting, value, name, words) => {
  await using own = await newDatabase();
  const none = 'VIEW pg_stat_replication AS SELECT 1 WHERE false';
  const { code, find } = await doctor(await shadow(own, [settingAs(setting, value), none]));
  expect(find(name)).toMatchObject({
    level: 'failure',
    advice: expect.stringContaining(words),
  });
  expect(code).toBe(1);
});

test('doctor warns about many connections, a long transaction and WAL of an inactive slot', async () => {
  await using own = await newDatabase();
  const database = await shadow(own, [
    settingAs('max_connections', '100'),
    'VIEW pg_stat_database AS SELECT 40 AS numbackends FROM generate_series(1, 2)',
    `VIEW pg_stat_activity AS SELECT 0 AS pid, now() - interval '15 minutes' AS xact_start`,
    `FUNCTION pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE sql AS $$ SELECT '1/0'::pg_lsn $$`,
    `VIEW pg_replication_slots AS SELECT '0/C0000000'::pg_lsn AS restart_lsn, false AS active
       UNION ALL SELECT '0/0'::pg_lsn, true`,
  ]);
  const { code, items } = await doctor(database);
  const warnings = items.filter(({ level }) => level === 'warning');
  expect(warnings.map(({ name, found }) => `${name}: ${found}`)).toEqual([
    'connections: 80 of 100 in use',
    'transactions: the oldest has been open for 900 s',
    'replication slots: 1024 MB of WAL retained for inactive slots',
  ]);
  expect(code).toBe(0);
});

test('a database URL may also begin with postgresql:', async () => {
  await using own = await newDatabase();
  const made = await memory(['keys', 'create', '--json', '--database', own.url]);
  const url = own.url.replace(/^postgres:/, 'postgresql:');
  const { code, stdout } = await memory(['keys', 'list', '--json', '--database', url]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).items).toMatchObject([{ id: JSON.parse(made.stdout).id }]);
});

test.each([
  ['any 1 (*)', 'on', '1 connected, synchronous: any 1 (*)'],
  ['', 'local', '1 connected, synchronous: none'],
])('doctor accepts the standbys %p with synchronous_commit = %s', async (names, commit, found) => {
  await using own = await newDatabase();
  const database = await shadow(own, [
    settingAs('synchronous_standby_names', names),
    'VIEW pg_stat_replication AS SELECT 1',
    `VIEW pg_settings AS SELECT 'synchronous_commit' AS name, '${commit}' AS reset_val`,
  ]);
  expect((await doctor(database)).find('standbys')).toMatchObject({ level: 'ok', found });
});

test('doctor says that the next server start creates the tables, until they exist', async () => {
  await using own = await newDatabase();
  const advice = async () => (await doctor(own.url)).find('version')?.advice ?? 'none';
  expect(await advice()).toContain('the next server start creates');
  await memory(['keys', 'create', '--database', own.url]);
  expect(await advice()).toBe('none');
});

test.each([
  [-4.5, 'ok'],
  [5.1, 'warning'],
])('doctor reports a database clock that differs by %d s as %s', async (seconds, level) => {
  await using own = await newDatabase();
  const database = await shadow(own, [
    `FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
       SELECT pg_catalog.clock_timestamp() + interval '${seconds} seconds' $$`,
  ]);
  const { find } = await doctor(database);
  expect(find('clock')).toMatchObject({ level });
});

test('doctor accepts a transaction of 14 minutes and 1023 MB of retained WAL', async () => {
  await using own = await newDatabase();
  const database = await shadow(own, [
    `VIEW pg_stat_activity AS SELECT 0 AS pid, now() - interval '14 minutes' AS xact_start`,
    `FUNCTION pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE sql AS $$ SELECT '1/0'::pg_lsn $$`,
    `VIEW pg_replication_slots AS SELECT '0/C0100000'::pg_lsn AS restart_lsn, false AS active`,
  ]);
  const { items } = await doctor(database);
  const shown = items.map(({ name, level, found }) => `${name} ${level}: ${found}`);
  const oldest = /^transactions ok: the oldest has been open for 84\d s$/;
  expect(shown).toContainEqual(expect.stringMatching(oldest));
  expect(shown).toContain('replication slots ok: 1023 MB of WAL retained for inactive slots');
});
