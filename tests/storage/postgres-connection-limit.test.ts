import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { endSessions, newWholeDatabase, postgresUrl, query } from '../support/postgres.ts';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { memory, newProject, type Project } from './fixtures.ts';

/* Sessions end while the database accepts no new connections. The other sessions stay open. */

const role = `limited_${crypto.randomUUID().replaceAll('-', '')}`;
const database = await newWholeDatabase();
await query(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'limited'`);
await query(database.url, `ALTER DATABASE ${database.name} OWNER TO ${role}`);
const url = Object.assign(new URL(database.url), { username: role, password: 'limited' }).href;
afterAll(async () => {
  await database.drop();
  await query(await postgresUrl(), `DROP ROLE ${role}`);
});

let storage: Storage;
let project: Project;
beforeEach(async () => {
  await setLimit(-1);
  storage = await openStorage(url);
  project = await newProject({ storage });
});
afterEach(() => storage.close());

const setLimit = (limit: number) =>
  query(database.url, `ALTER ROLE ${role} CONNECTION LIMIT ${limit}`);

async function countSessions(purpose: string): Promise<number> {
  const text = `SELECT count(*)::int4 AS n FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = $1`;
  const [row] = await query(database.url, text, [`memory ${purpose}`]);
  return Number(row?.n);
}

/**
 * Waits until `count` sessions are open, then rejects new sessions and ends the session that was
 * used most recently.
 */
async function loseOneOf(count: number, purpose: string): Promise<void> {
  const has = (n: number) => async () => (await countSessions(purpose)) === n;
  await until(has(count), { what: 'the open sessions' });
  await setLimit(0);
  // Waits for the end of the process, for at most five seconds.
  const text = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = $1
    ORDER BY state_change DESC LIMIT 1`;
  await query(database.url, text, [`memory ${purpose}`]);
  await until(has(count - 1), { what: 'the end of a session' });
  await Bun.sleep(20);
}

test('writes use the open connections if one cannot be reopened', async () => {
  const given = memory();
  await project.save(given);
  await loseOneOf(4, 'writer');
  let updates = 0;
  const update = () => project.update(given.id, { content: `newer ${++updates}` });
  for (let round = 0; round < 3; round += 1) {
    await project.save(memory());
    await update();
    // There are more writes than connections, so that the lost connection is also tried.
    await Promise.all(Array.from({ length: 6 }, update));
  }
  expect(await project.list()).toHaveLength(4);
  expect(await project.get(given.id)).toMatchObject({ version: updates + 1 });
});

test('reads use the open connection if the other cannot be reopened', async () => {
  const given = memory();
  await project.save(given);
  await loseOneOf(2, 'server');
  for (let round = 0; round < 5; round += 1) {
    expect(await project.get(given.id)).toMatchObject(given);
  }
});

test('searches use another thread if the connection of one cannot be reopened', async () => {
  await project.save(memory());
  const search = () => project.search('hello');
  // A single project is not allowed to use all threads.
  const other = await newProject({ storage });
  await Promise.all([search(), other.search('hello')]);
  // The first idle thread holds the index, so it runs this search and loses its session.
  await search();
  await loseOneOf(2, 'reader');
  const results = [];
  for (let round = 0; round < 5; round += 1) results.push(await search().catch(() => 'failed'));
  expect(results.filter((result) => result === 'failed').length).toBeLessThanOrEqual(1);
});

test('a health probe that cannot connect is a warning, and writes continue', async () => {
  await loseOneOf(1, 'health');
  const warning = async () => {
    const { warning, fault } = await storage.health();
    return warning ?? fault;
  };
  // The first report may be that the session was lost.
  const message = 'the database has no free connections';
  await until(async () => (await warning()) === message, { what: 'a report of the failed probe' });
  await project.save(memory());
  expect(await storage.health()).toMatchObject({ fault: null });
  await setLimit(-1);
  await until(async () => (await warning()) === null, { what: 'the end of the warning' });
});

test('a database that has closed all sessions and accepts no new ones is a fault', async () => {
  const areOpen = async () =>
    (await countSessions('writer')) === 4 && (await countSessions('server')) === 2;
  await until(areOpen, { what: 'the open sessions' });
  await setLimit(0);
  await endSessions(database.url, 'memory %');
  const message = 'the database has no free connections';
  const isFault = async () => (await storage.health()).fault === message;
  expect(await until(isFault, { what: 'the fault' })).toBe(true);
});

test('a lost read connection is reopened while reads use the other one', async () => {
  const given = memory();
  await project.save(given);
  await loseOneOf(2, 'server');
  await setLimit(-1);
  const isRestored = async () => {
    expect(await project.get(given.id)).toMatchObject(given);
    return (await countSessions('server')) === 2;
  };
  await until(isRestored, { what: 'the second session' });
});

test('/health names the limit if only the threads that count the queue cannot connect', async () => {
  const server = await startTestServer({}, [], { databaseUrl: url });
  try {
    await setLimit(0);
    await endSessions(database.url, 'memory reader');
    const message = 'the database has no free connections';
    const seen = async () => {
      const response = await fetch(`${server.url}/health`);
      return response.status === 503 && (await response.text()).includes(`"message":"${message}"`);
    };
    expect(await until(seen, { what: 'the limit as the message' })).toBe(true);
  } finally {
    await server.stop();
  }
});
