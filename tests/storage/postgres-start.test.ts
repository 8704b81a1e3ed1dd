import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { newDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';

/* A database that is not ready when the server starts, or loses a table while the server runs. */

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
  const tables = 'SELECT 1 FROM pg_tables WHERE schemaname = current_schema()';
  expect(await query(database.url, tables)).toEqual([]);
});

test('health() reports a missing table until it is back, and no write is tried', async () => {
  const storage = await openStorage(database.url);
  try {
    const project = await newProject({ storage });
    await query(database.url, 'ALTER TABLE memories RENAME TO gone');
    const fault = await until(async () => (await storage.health()).fault);
    expect(fault).toBe('tables are missing from the database: memories');
    const error = await rejectionOf(project.save(memory()));
    expect(error.message).toBe(`${fault}; nothing was stored`);
    await query(database.url, 'ALTER TABLE gone RENAME TO memories');
    await until(async () => (await storage.health()).fault === null);
    await project.save(memory());
  } finally {
    await storage.close();
  }
});
