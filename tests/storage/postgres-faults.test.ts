import { afterAll, describe, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { createTrigger, endSessions, newWholeDatabase, query } from '../support/postgres.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { keyed, memory, newKey, newProject, record } from './fixtures.ts';
import { healthy } from './health.ts';

/* Writes and reads during faults of the database or of the connection to it. */

// One test terminates all writer sessions of the database, so no other file may share it.
const database = await newWholeDatabase();
afterAll(database.drop);

const unknown = { code: 'internal', message: expect.stringContaining('the outcome is unknown') };

/** Opens a storage through a proxy. Most of the tests wait, so they run concurrently. */
async function setUp() {
  const proxy = proxyTo(database.url);
  const storage = await openStorage(proxy.url);
  const project = await newProject({ storage });
  return {
    proxy,
    storage,
    project,
    fault: async () => (await storage.health()).fault,
    async [Symbol.asyncDispose]() {
      await storage.close();
      proxy.stop();
    },
  };
}

describe('a connection that is lost after COMMIT was sent', () => {
  test.concurrent('fails a save with an unknown outcome, and a retry has no further effect', async () => {
    // COMMIT is sent with the save only on a connection that has prepared its statements. A busy
    // machine may use another connection, and the database then rolls the save back.
    let isReplayed = false;
    for (let attempt = 0; attempt < 5 && !isReplayed; attempt += 1) {
      await using context = await setUp();
      const { project, proxy } = context;
      await project.save(memory(), { idempotency: keyed('first') });
      const idempotency = keyed('lost');
      const given = memory({ content: 'the answer is lost' });
      proxy.loseCommitAfter('the answer is lost');
      const failed = project.save(given, { idempotency });
      expect(await rejectionOf(failed)).toMatchObject(unknown);
      const again = await project.save(memory({ content: 'the answer is lost' }), { idempotency });
      expect(await project.list()).toHaveLength(2);
      isReplayed = again.replayed;
      if (isReplayed) expect(again.response.memoryId).toBe(given.id);
    }
    expect(isReplayed).toBe(true);
  });

  test.concurrent('fails an update with an unknown outcome, and a retry has no further effect', async () => {
    await using context = await setUp();
    const { project, proxy } = context;
    const given = memory();
    await project.save(given);
    await project.update(given.id, { content: 'second' }, { idempotency: keyed('second') });
    const idempotency = keyed('lost update');
    proxy.loseCommitAfter('newer text');
    const failed = project.update(given.id, { content: 'newer text' }, { idempotency });
    expect(await rejectionOf(failed)).toMatchObject(unknown);
    await project.update(given.id, { content: 'newer text' }, { idempotency });
    expect(await project.get(given.id)).toMatchObject({ content: 'newer text', version: 3 });
  });
});

test.concurrent('creating a key has an unknown outcome if its connection is lost', async () => {
  await using context = await setUp();
  const { proxy, storage } = context;
  await storage.createKey(newKey({ id: 'kept' }));
  const lost = newKey({ id: 'lost' });
  proxy.loseCommitAfter(lost.hash);
  expect(await rejectionOf(storage.createKey(lost))).toMatchObject(unknown);
  expect((await storage.listKeys()).map(({ id }) => id)).toEqual(['kept', 'lost']);
});

test.concurrent('a write whose connection is lost before COMMIT stores nothing and is retried', async () => {
  await using context = await setUp();
  const { project, proxy } = context;
  const given = memory();
  await project.save(given);
  // The connection is lost at the read of the memory, before the transaction has written anything.
  proxy.loseAnswerTo(given.id);
  await project.update(given.id, { content: 'newer' });
  expect(await project.get(given.id)).toMatchObject({ content: 'newer', version: 2 });
});

test.concurrent('writes are unavailable while the database refuses connections', async () => {
  await using context = await setUp();
  const { fault, project, proxy, storage } = context;
  proxy.refuse();
  const unavailable = { code: 'unavailable', retryAfterSeconds: expect.any(Number) };
  await until(fault, { what: 'a fault' });
  expect(await rejectionOf(project.save(memory()))).toMatchObject(unavailable);
  expect(await rejectionOf(project.accept([record()]))).toMatchObject(unavailable);
  expect(await rejectionOf(project.get('mem_none'))).toMatchObject(unavailable);
  proxy.heal();
  await healthy(storage);
  await project.save(memory());
  expect(await project.list()).toHaveLength(1);
});

test.concurrent('a database that stops responding is reported within three seconds, and no write waits', async () => {
  await using context = await setUp();
  const { fault, project, proxy, storage } = context;
  // In the second round, the probe's connection is open.
  for (let round = 1; round <= 2; round += 1) {
    const begun = performance.now();
    proxy.silence();
    expect(await until(fault, { what: 'a fault' })).toContain('cannot be reached');
    expect(performance.now() - begun).toBeLessThan(4_000);
    const asked = performance.now();
    expect(await rejectionOf(project.save(memory()))).toMatchObject({ code: 'unavailable' });
    expect(performance.now() - asked).toBeLessThan(500);
    proxy.heal();
    await healthy(storage);
  }
});

test.concurrent('reads use another connection if one stops responding', async () => {
  await using context = await setUp();
  const { fault, project, proxy, storage } = context;
  const given = memory();
  await project.save(given);
  proxy.silenceAt(given.id);
  const read = () => project.get(given.id).catch(() => null);
  const stuck = read();
  const answer = () => Promise.race([read(), Bun.sleep(500).then(() => null)]);
  expect(await until(answer, { what: 'an answer', timeoutMs: 6_000 })).toMatchObject(given);
  // The first read is still pending. Only the loss of its connection would end it.
  expect(await Promise.race([stuck, 'no answer'])).toBe('no answer');
  const warning = async () => (await storage.health()).warning;
  expect(await until(warning, { what: 'a warning' })).toContain('has not responded for three');
  expect(await fault()).toBeNull();
  proxy.heal();
  expect(await stuck).toBeNull();
});

test.concurrent('connecting fails if the database stops responding during the connection setup', async () => {
  const own = proxyTo(database.url);
  own.silenceAt('pg_is_in_recovery');
  const failed = await rejectionOf(openStorage(own.url));
  expect(String(failed)).toContain('the database cannot be reached');
  own.stop();
});

test.concurrent('a write that fails on a worker of a cluster does not fail the other writes of its group', async () => {
  await using context = await setUp();
  const { project } = context;
  const restore = await createTrigger(
    database.url,
    'BEFORE INSERT ON memories',
    `IF NEW.content = 'on a lost worker' THEN RAISE 'lost' USING ERRCODE = '08006'; END IF;`,
  );
  const [lost, saved] = await Promise.allSettled([
    project.save(memory({ content: 'on a lost worker' })),
    project.save(memory({ userId: 'v' })),
  ]);
  await restore();
  expect(lost).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  expect(saved).toMatchObject({ status: 'fulfilled' });
  expect(await project.list('v')).toHaveLength(1);
});

test.concurrent('a closed storage opens no connection again', async () => {
  const storage = await openStorage(database.url);
  await storage.close();
  expect(await rejectionOf(storage.findKey('hash'))).toMatchObject({ code: 'unavailable' });
});

test('the termination of an idle session does not fail a write', async () => {
  // Without the proxy, so that the storage is notified as soon as the sessions have ended.
  const storage = await openStorage(database.url);
  try {
    const project = await newProject({ storage });
    await project.save(memory());
    const ended = await endSessions(database.url, 'memory writer');
    expect(ended.map(({ hasEnded }) => hasEnded)).toContain(true);
    await Bun.sleep(20);
    await project.save(memory());
    expect(await project.list()).toHaveLength(2);
  } finally {
    await storage.close();
  }
});

test('writes are unavailable while the disk of the database server is full, and reads continue', async () => {
  await using context = await setUp();
  const { fault, project, storage } = context;
  const given = memory();
  await project.save(given);
  // A sequence also counts the probes that fail.
  await query(database.url, 'CREATE SEQUENCE probes');
  const fillDisk = (table: string, statement = '') =>
    createTrigger(
      database.url,
      `BEFORE INSERT OR UPDATE ON ${table}`,
      `${statement} RAISE 'no space' USING ERRCODE = '53100';`,
    );
  const restores = [
    await fillDisk('memories'),
    await fillDisk('maintenance', `PERFORM nextval('probes');`),
  ];
  const message = "the database server's disk is full";
  const refused = { code: 'unavailable', message: `${message}; nothing was stored` };
  expect(await rejectionOf(project.save(memory()))).toMatchObject(refused);
  expect(await fault()).toBe(message);
  const probes = async () => {
    const [row] = await query(database.url, 'SELECT last_value::int4 AS n FROM probes');
    return Number(row?.n) >= 2;
  };
  await until(probes, { what: 'two failed probes' });
  expect(await fault()).toBe(message);
  expect(await rejectionOf(project.save(memory()))).toMatchObject(refused);
  expect(await project.get(given.id)).toMatchObject(given);
  for (const restore of restores) await restore();
  await healthy(storage);
  await project.save(memory());
  expect(await project.list()).toHaveLength(2);
});
