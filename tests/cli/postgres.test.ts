import { afterAll, expect, test } from 'bun:test';
import {
  newDatabase,
  newWholeDatabase,
  openTransaction,
  postgresUrl,
  query,
  settingAs,
  shadow,
} from '../support/postgres.ts';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { doctor, lines, memory } from './command.ts';

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

test('keys are created, listed and revoked, and doctor counts those in use', async () => {
  await using own = await newDatabase();
  const keys = async (...argv: string[]) => {
    const { code, stdout } = await memory(['keys', ...argv, '--json', '--database', own.url]);
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };
  const { id } = await keys('create', '--name', 'first');
  for (const name of ['second', 'third']) await keys('create', '--name', name);
  expect((await keys('list')).items[0]).toMatchObject({ id, name: 'first', revokedAt: null });
  await keys('revoke', id);
  const { find } = await doctor(own.url);
  expect(find('keys')).toMatchObject({ level: 'ok', found: '2 in use' });
  // A database URL may also begin with postgresql:.
  const { find: findAgain } = await doctor(own.url.replace(/^postgres:/, 'postgresql:'));
  expect(findAgain('keys')).toEqual(find('keys'));
});

test('servers that start at the same time on an empty database share it', async () => {
  await using empty = await newDatabase();
  const env = { MEMORY_API_KEY: 'a-key-for-two-servers' };
  const start = () => startTestServer(env, [], { databaseUrl: empty.url });
  const servers = await Promise.all([start(), start(), start()]);
  const [first, ...others] = servers.map(({ client }) => client);
  const saved = await first?.save({ userId: 'u', content: 'seen by all' });
  for (const client of others) {
    expect(await client.get(saved?.id ?? '')).toMatchObject({ content: 'seen by all' });
    const { items } = await client.search({ userId: 'u', query: 'seen' });
    expect(items).toMatchObject([{ id: saved?.id }]);
  }
  for (const server of servers) await server.stop();
});

test('doctor runs the PostgreSQL checks and reports no problem', async () => {
  await memory(['keys', 'create', ...on]);
  const { code, items } = await doctor(database.url);
  const server = ['version', 'durability', 'standbys', 'clock', 'connections', 'transactions'];
  const data = ['replication slots', 'consistency', 'keys', 'queue', 'dead rows'];
  expect(items.map(({ name, level }) => `${name} ${level}`)).toEqual(
    [...server, ...data].map((name) => `${name} ok`),
  );
  expect(code).toBe(0);
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
  expect(stdout + stderr).toContain('the database cannot be reached: Failed to connect');
  expect(stdout + stderr).not.toContain('secret');
  expect(code).toBe(1);
});

const standbys = (names: string, commit: string, connected = true) => [
  settingAs('synchronous_standby_names', names),
  `VIEW pg_stat_replication AS SELECT 1 WHERE ${connected}`,
  `VIEW pg_settings AS SELECT 'synchronous_commit' AS name, '${commit}' AS reset_val`,
];
const clockAhead = (seconds: number) => [
  `FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
     SELECT pg_catalog.clock_timestamp() + interval '${seconds} seconds' $$`,
];
const connections = (count: number) => [
  settingAs('max_connections', '100'),
  `VIEW pg_stat_database AS SELECT ${count / 2} AS numbackends FROM generate_series(1, 2)`,
];
const oldest = (minutes: number) => [
  `VIEW pg_stat_activity AS
     SELECT 0 AS pid, now() - interval '${minutes} minutes' AS xact_start`,
];
/** A slot that is 1/0 behind, less the restart position, and one in use. */
const retained = (restart: string) => [
  `FUNCTION pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE sql AS $$ SELECT '1/0'::pg_lsn $$`,
  `VIEW pg_replication_slots AS SELECT '${restart}'::pg_lsn AS restart_lsn, false AS active
     UNION ALL SELECT '0/0'::pg_lsn, true`,
];
const slots = (mb: number) => `${mb} MB of WAL retained for inactive slots`;

test.each<[finding: string, level: string, words: string | RegExp, shadows: string[]]>([
  ['durability', 'failure', 'set fsync = on', [settingAs('fsync', 'off')]],
  ['durability', 'failure', 'set full_page_writes = on', [settingAs('full_page_writes', 'off')]],
  ['standbys', 'failure', 'every write waits for a standby', standbys('any 1 (*)', 'on', false)],
  ['standbys', 'warning', 'set synchronous_commit = on', standbys('any 1 (*)', 'local')],
  ['standbys', 'ok', '1 connected, synchronous: any 1 (*)', standbys('any 1 (*)', 'on')],
  ['standbys', 'ok', '1 connected, synchronous: none', standbys('', 'local')],
  ['clock', 'ok', '', clockAhead(-4.5)],
  ['clock', 'warning', '', clockAhead(5.1)],
  ['connections', 'warning', '80 of 100 in use', connections(80)],
  ['transactions', 'ok', /the oldest has been open for 84\d s/, oldest(14)],
  ['transactions', 'warning', 'the oldest has been open for 900 s', oldest(15)],
  ['replication slots', 'ok', slots(1023), retained('0/C0100000')],
  ['replication slots', 'warning', slots(1024), retained('0/C0000000')],
])('doctor finds %s %s: %s', async (name, level, words, shadows) => {
  await using own = await newDatabase();
  const { code, find } = await doctor(await shadow(own, shadows));
  const { found = '', advice = '', ...about } = find(name) ?? {};
  expect(about).toEqual({ name, level });
  expect(`${found}; ${advice}`).toMatch(words);
  expect(code).toBe(level === 'failure' ? 1 : 0);
});

/** Two workers of Citus, one of them with this setting. */
const workers = (commit: string) => [
  `VIEW pg_extension AS SELECT 'citus' AS extname`,
  `VIEW pg_dist_partition AS SELECT to_regclass('users') AS logicalrelid`,
  `FUNCTION run_command_on_workers(command text) RETURNS TABLE (result text) LANGUAGE sql AS
     $$ SELECT unnest(ARRAY['on', '${commit}']) $$`,
];

test.each([
  ['on', 'ok', '2, synchronous_commit on'],
  ['off', 'failure', '2, synchronous_commit on, off'],
])(
  'with synchronous_commit %s on a worker, doctor finds workers %s',
  async (commit, ...expected) => {
    await using own = await newDatabase();
    await memory(['keys', 'create', '--database', own.url]);
    const { find } = await doctor(await shadow(own, workers(commit)));
    const { level, found } = find('workers') ?? {};
    expect<unknown>([level, found]).toEqual(expected);
  },
);

test('doctor says that the next server start creates the tables, until they exist', async () => {
  await using own = await newDatabase();
  const advice = async () => (await doctor(own.url)).find('version')?.advice ?? 'none';
  expect(await advice()).toContain('the next server start creates');
  await memory(['keys', 'create', '--database', own.url]);
  expect(await advice()).toBe('none');
});

test('a keys command closes its connection, even if it rejects the database', async () => {
  await using own = await newDatabase();
  // The service adds the id of the schema to the name of each session.
  const isClosed = async () => {
    const text = `SELECT 1 FROM pg_stat_activity WHERE application_name =
      (SELECT concat('memory admin ', oid) FROM pg_namespace WHERE nspname = current_schema())`;
    return (await query(own.url, text)).length === 0;
  };
  for (const [command, code] of [
    ['list', 1],
    ['create', 0],
    ['list', 0],
  ] as const) {
    const ran = await memory(['keys', command, '--database', own.url]);
    expect([command, ran.code]).toEqual([command, code]);
    await until(isClosed, { what: 'the end of the session' });
  }
});

test('doctor counts the sessions of other roles, and says if it does not see their transactions', async () => {
  const database = await newWholeDatabase();
  const role = `plain_${crypto.randomUUID().replaceAll('-', '')}`;
  await query(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'plain'`);
  const url = Object.assign(new URL(database.url), { username: role, password: 'plain' }).href;
  const ends: (() => Promise<void>)[] = [];
  while (ends.length < 10) ends.push(await openTransaction(database.url, 'SELECT 1'));
  const { find } = await doctor(url);
  expect(find('transactions')?.found).toMatch(/^the oldest of this role has been open for \d s$/);
  expect(Number.parseInt(find('connections')?.found ?? '', 10)).toBeGreaterThan(10);
  await query(database.url, `GRANT pg_read_all_stats TO ${role}`);
  const found = (await doctor(url)).find('transactions')?.found;
  expect(found).toMatch(/^the oldest has been open for \d+ s$/);
  for (const end of ends) await end();
  await database.drop();
  await query(await postgresUrl(), `DROP ROLE ${role}`);
});
