import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { createTrigger, newWholeDatabase, postgresUrl, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';
import { expectFault } from './health.ts';

/* The settings and the privileges of the database user, and a database that admits no users. */

let role: string;
let database: Awaited<ReturnType<typeof newWholeDatabase>>;
let url: string;
beforeEach(async () => {
  role = `role_${crypto.randomUUID().replaceAll('-', '')}`;
  database = await newWholeDatabase();
  await query(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'role'`);
  url = Object.assign(new URL(database.url), { username: role, password: 'role' }).href;
});
afterEach(async () => {
  await database.drop();
  await query(await postgresUrl(), `DROP ROLE ${role}`);
});

async function withStorage(work: (storage: Storage) => Promise<void>): Promise<void> {
  const storage = await openStorage(url);
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}

async function own(settings: Record<string, string>): Promise<void> {
  await query(database.url, `ALTER DATABASE ${database.name} OWNER TO ${role}`);
  for (const [name, value] of Object.entries(settings)) {
    await query(database.url, `ALTER ROLE ${role} SET ${name} = '${value}'`);
  }
}

async function pidsOf(purpose: string): Promise<unknown[]> {
  const text = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = $1 ORDER BY pid`;
  return (await query(database.url, text, [`memory ${purpose}`])).map(({ pid }) => pid);
}

test('timeouts of the database user end no statement and no session', async () => {
  const isThere = `SELECT FROM pg_settings WHERE name = 'transaction_timeout'`;
  const hasTransactionTimeout = (await query(database.url, isThere)).length > 0;
  await own({
    statement_timeout: '1ms',
    idle_session_timeout: '1ms',
    ...(hasTransactionTimeout && { transaction_timeout: '1h' }),
  });
  await withStorage(async (storage) => {
    const project = await newProject({ storage });
    await createTrigger(
      database.url,
      'BEFORE INSERT ON memories',
      `IF current_setting('transaction_timeout', true) <> '0' THEN RAISE 'limited'; END IF;`,
    );
    await until(async () => (await pidsOf('writer')).length === 4, { what: 'all sessions' });
    const before = await pidsOf('writer');
    for (let count = 0; count < 5; count += 1) await project.save(memory());
    expect(await pidsOf('writer')).toEqual(before);
  });
});

test('the database soon asks whether the machine of an idle session is still there', async () => {
  await own({ tcp_keepalives_idle: '2h' });
  await withStorage(async (storage) => {
    const project = await newProject({ storage });
    await createTrigger(
      database.url,
      'BEFORE INSERT ON memories',
      `IF current_setting('tcp_keepalives_idle')::int4 > 60 THEN RAISE 'late'; END IF;`,
    );
    await project.save(memory());
  });
});

test("servers share rate limits whatever the database user's isolation level is", async () => {
  await own({ default_transaction_isolation: 'serializable' });
  await withStorage((first) =>
    withStorage(async (second) => {
      const request = { projectId: 1, amount: 1, limit: 1_000, seconds: 600 };
      for (let count = 0; count < 100; count += 1) {
        await Promise.all([first.reserveQuota?.(request), second.reserveQuota?.(request)]);
      }
      expect(await first.reserveQuota?.(request)).toMatchObject({ available: 799 });
    }),
  );
});

test.each(['SELECT', 'INSERT'])(
  'health() reports that %s has been revoked, and no write is tried',
  async (privilege) => {
    await (await openStorage(database.url)).close();
    await query(database.url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    await withStorage(async (storage) => {
      const project = await newProject({ storage });
      await query(database.url, `REVOKE ${privilege} ON memories FROM ${role}`);
      const undo = () => query(database.url, `GRANT ${privilege} ON memories TO ${role}`);
      const fault = 'the database user lacks privileges on tables: memories';
      await expectFault({ storage, project }, fault, undo);
    });
  },
);

test('a write that lacks a privilege stores nothing', async () => {
  await (await openStorage(database.url)).close();
  await query(database.url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  await withStorage(async (storage) => {
    const project = await newProject({ storage });
    await query(database.url, 'ALTER TABLE memories ENABLE ROW LEVEL SECURITY');
    expect(await rejectionOf(project.save(memory()))).toMatchObject({
      code: 'unavailable',
      message: 'the database user lacks a privilege; nothing was stored',
    });
  });
});

test('a start without the privilege to create tables names it', async () => {
  const { message } = await rejectionOf(openStorage(url));
  expect(message).toMatch(/^the database user lacks a privilege: permission denied for schema/);
});

test('health() reports that the database admits no users, and no write is tried', async () => {
  await own({});
  await withStorage(async (storage) => {
    const project = await newProject({ storage });
    const base = await postgresUrl();
    const admit = (isAdmitting: boolean) =>
      query(base, `ALTER DATABASE ${database.name} ALLOW_CONNECTIONS ${isAdmitting}`);
    await admit(false);
    const end = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1`;
    await query(base, end, [database.name]);
    const undo = () => admit(true);
    await expectFault({ storage, project }, 'the database is not accepting connections', undo);
  });
});
