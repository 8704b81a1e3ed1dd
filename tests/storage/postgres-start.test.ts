import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { newDatabase, query, settingAs, shadow, type TestDatabase } from '../support/postgres.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';
import { expectFault } from './health.ts';
import { openInSchema } from './postgres.ts';

/* Databases that are not supported, are not ready at the start, or do not stay as they were. */

let database: TestDatabase;
let proxy: ReturnType<typeof proxyTo>;
beforeEach(async () => {
  database = await newDatabase();
  proxy = proxyTo(database.url);
});
afterEach(async () => {
  proxy.stop();
  await database.drop();
});

/** Rejects all connections with this error. */
function startRejecting(state: string, message: string): { stop(): void } {
  const fields = ['SFATAL', 'VFATAL', `C${state}`, `M${message}`];
  const body = Buffer.from(`${fields.join('\0')}\0\0`);
  const header = Buffer.from([69, 0, 0, 0, 4 + body.length]);
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: proxy.port,
    socket: {
      data(socket) {
        socket.write(Buffer.concat([header, body]));
        socket.end();
      },
    },
  });
  return { stop: () => listener.stop(true) };
}

test.each([
  ['refuses connections', 'Failed to connect', () => ({ stop() {} })],
  [
    'is starting',
    'the database system is starting up',
    () => startRejecting('57P03', 'the database system is starting up'),
  ],
])('a start waits while the database %s', async (_, reason, begin) => {
  proxy.refuse();
  const state = begin();
  const warnings: string[] = [];
  const storage = await openStorage(proxy.url, {
    warn(message, error) {
      warnings.push(`${message}: ${error}`);
      state.stop();
      proxy.heal();
    },
  });
  expect(warnings).toEqual([expect.stringContaining(reason)]);
  await storage.close();
});

test('a start fails with the cause if the database stays unreachable', async () => {
  proxy.refuse();
  const error = await rejectionOf(openStorage(proxy.url, { startWithinMs: 300 }));
  expect(error.message).toBe('the database cannot be reached: Failed to connect');
});

test('a start says that a pooler which rejects the settings is not supported', async () => {
  proxy.refuse();
  const detail = 'unsupported startup parameter: client_min_messages';
  const pooler = startRejecting('08P01', detail);
  const { message } = await rejectionOf(openStorage(proxy.url));
  pooler.stop();
  expect(message).toContain('connection poolers are not supported');
  expect(message).toContain(detail);
});

test('a pooler that drops the settings is rejected before any table is created', async () => {
  const pooler = proxyTo(database.url, (_, bytes) => {
    const at = bytes.indexOf('lock_timeout\0');
    // Without an effect, but just as long.
    if (at > 0) bytes.write('a.b_timeout_', at);
  });
  const { message } = await rejectionOf(openStorage(pooler.url));
  pooler.stop();
  expect(message).toContain('connection poolers are not supported');
  expect(await tables(database.url)).toBe(0);
});

test('health() reports a missing table until it is back, and no write is tried', async () => {
  await using opened = await openInSchema();
  const project = await newProject(opened);
  await query(opened.url, 'ALTER TABLE memories RENAME TO gone');
  const undo = () => query(opened.url, 'ALTER TABLE gone RENAME TO memories');
  await expectFault({ ...opened, project }, 'tables are missing from the database: memories', undo);
});

test('health() reports that the synchronous standby is away, and no write is tried', async () => {
  await using node = await newPrimary();
  const setNames = async (names: string) => {
    await node.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await node.query('SELECT pg_reload_conf()');
    const isSet = async () => {
      const [row] = await node.query('SHOW synchronous_standby_names');
      return row?.synchronous_standby_names === names;
    };
    await until(isSet, { what: 'the setting' });
  };
  await using opened = await openInSchema({ database: node });
  const project = await newProject(opened);
  const given = memory();
  await project.save(given);
  await setNames('*');
  const waiting = Promise.allSettled([project.save(memory())]);
  await expectFault({ ...opened, project }, 'no synchronous standby confirms writes', async () => {
    expect(await project.get(given.id)).toMatchObject(given);
    await setNames('');
    // On a slow machine, its outcome may be unknown by now.
    await waiting;
  });
  expect(await project.list()).toHaveLength(3);
});

async function tables(url: string): Promise<number> {
  const text = 'SELECT 1 FROM pg_tables WHERE schemaname = current_schema()';
  return (await query(url, text)).length;
}

test.each([
  ['older than 15', 'server_version_num', '140022', 'PostgreSQL 15 or newer is required'],
  ['with another encoding', 'server_encoding', 'LATIN1', "create a database with ENCODING 'UTF8'"],
])('a server %s is rejected before any table is created', async (_, name, value, advice) => {
  const url = await shadow(database, [settingAs(name, value)]);
  expect((await rejectionOf(openStorage(url))).message).toContain(advice);
  expect(await tables(url)).toBe(0);
});

test('a database of a newer version of this program is rejected', async () => {
  await (await openStorage(database.url)).close();
  const newest = 'SELECT max(version) FROM schema_versions';
  await query(database.url, `UPDATE schema_versions SET version = 999 WHERE version = (${newest})`);
  expect((await rejectionOf(openStorage(database.url))).message).toContain('schema 999');
});

test('PostgreSQL 15 is accepted', async () => {
  const url = await shadow(database, [settingAs('server_version_num', '150000')]);
  await (await openStorage(url)).close();
  expect(await tables(url)).toBeGreaterThan(5);
});

test('a standby is rejected, because its data may be outdated', async () => {
  await (await openStorage(database.url)).close();
  const isStandby = `FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'`;
  const { message } = await rejectionOf(openStorage(await shadow(database, [isStandby])));
  expect(message).toContain('the server is a standby');
});

test('the database in the URL is used even if PGDATABASE names another one', async () => {
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
