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

/** Rejects all connections as a database server does while it starts. */
function startStarting(): { stop(): void } {
  const fields = ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up'];
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
  ['is starting', 'the database system is starting up', startStarting],
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
