import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newWholeDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { keyed, memory, newProject, type Project, record } from './fixtures.ts';

/* What becomes of writes where the database, or the way to it, fails. */

let database: TestDatabase;
let proxy: TcpProxy;
let storage: Storage;
let project: Project;

beforeAll(async () => {
  // Its sessions are ended below, and those of other tests must not be.
  database = await newWholeDatabase();
  const url = new URL(database.url);
  proxy = startTcpProxy({ hostname: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  storage = await openPostgres(url.href);
});
beforeEach(async () => {
  project = await newProject({ storage, reopen: async () => storage, dispose: async () => {} });
});
afterAll(async () => {
  await storage.close();
  proxy.stop();
  await database.drop();
});

const fault = async () => (await storage.health()).fault;

describe('a connection that is lost after COMMIT was sent', () => {
  test('leaves a save of unknown outcome, and its retry finds the one effect', async () => {
    // A statement is prepared when it is first used, and only then sent with the others.
    await project.save(memory(), { idempotency: keyed('first') });
    const idempotency = keyed('lost');
    const given = memory({ content: 'the answer is lost' });
    proxy.loseAnswerTo('the answer is lost');
    const failed = project.save(given, { idempotency });
    expect(await rejectionOf(failed)).toMatchObject({
      code: 'internal',
      message: expect.stringContaining('the outcome is unknown'),
    });
    const again = await project.save(memory({ content: 'the answer is lost' }), { idempotency });
    expect(again).toMatchObject({ replayed: true, response: { memoryId: given.id } });
    expect(await project.list()).toHaveLength(2);
  });

  test('leaves an update of unknown outcome, and its retry has no second effect', async () => {
    const given = memory();
    await project.save(given);
    await project.update(given.id, { content: 'second' }, { idempotency: keyed('second') });
    const idempotency = keyed('lost update');
    proxy.loseAnswerTo('newer text');
    const failed = project.update(given.id, { content: 'newer text' }, { idempotency });
    expect(await rejectionOf(failed)).toMatchObject({ code: 'internal' });
    await project.update(given.id, { content: 'newer text' }, { idempotency });
    expect(await project.get(given.id)).toMatchObject({ content: 'newer text', version: 3 });
  });
});

test('a connection that is lost before COMMIT stores nothing, and the write is done again', async () => {
  const given = memory();
  await project.save(given);
  // The look at the memory, in a transaction that has not written anything.
  proxy.loseAnswerTo(given.id);
  await project.update(given.id, { content: 'newer' });
  expect(await project.get(given.id)).toMatchObject({ content: 'newer', version: 2 });
});

test('a database that refuses connections makes writes unavailable, until it takes them', async () => {
  proxy.refuse();
  const unavailable = { code: 'unavailable', retryAfterSeconds: expect.any(Number) };
  await until(fault, { what: 'a fault' });
  expect(await rejectionOf(project.save(memory()))).toMatchObject(unavailable);
  expect(await rejectionOf(project.accept([record()]))).toMatchObject(unavailable);
  expect(await rejectionOf(project.get('mem_none'))).toMatchObject(unavailable);
  proxy.heal();
  await until(async () => (await fault()) === null, { what: 'the end of the fault' });
  await project.save(memory());
  expect(await project.list()).toHaveLength(1);
});

test('a database that falls silent is said within three seconds, and no write waits for it', async () => {
  const begun = performance.now();
  proxy.silence();
  expect(await until(fault, { what: 'a fault' })).toContain('cannot be reached');
  expect(performance.now() - begun).toBeLessThan(4_000);
  const asked = performance.now();
  expect(await rejectionOf(project.save(memory()))).toMatchObject({ code: 'unavailable' });
  expect(performance.now() - asked).toBeLessThan(500);
  proxy.heal();
  await until(async () => (await fault()) === null, { what: 'the end of the fault' });
});

test('a connection that hears nothing any more is passed over', async () => {
  const given = memory();
  await project.save(given);
  proxy.silenceAt(given.id);
  const read = () => project.get(given.id).catch(() => null);
  const stuck = read();
  const answer = () => Promise.race([read(), Bun.sleep(100).then(() => null)]);
  expect(await until(answer, { what: 'an answer', timeoutMs: 2_000 })).toMatchObject(given);
  // The first read is still in hand: for it the connection would have to be given up.
  expect(await Promise.race([stuck, 'no answer'])).toBe('no answer');
  proxy.heal();
  expect(await stuck).toBeNull();
});

test('a server that falls silent while a connection is made is not waited for', async () => {
  const url = new URL(database.url);
  const own = startTcpProxy({ hostname: url.hostname, port: Number(url.port) });
  url.port = String(own.port);
  own.silenceAt('pg_is_in_recovery');
  const failed = await rejectionOf(openPostgres(url.href));
  expect(String(failed)).toContain('the database cannot be reached');
  own.stop();
});

test('a session that is terminated while it is idle costs no write', async () => {
  await project.save(memory());
  await query(
    database.url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'memory writer'`,
  );
  const told = async () => {
    const [row] = await query(
      database.url,
      `SELECT count(*)::int4 AS n FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'memory writer'`,
    );
    return row?.n === 0;
  };
  await until(told, { what: 'the end of the sessions' });
  await Bun.sleep(20);
  await project.save(memory());
  expect(await project.list()).toHaveLength(2);
});
