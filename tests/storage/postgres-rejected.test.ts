import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { createTrigger, endSessions, newWholeDatabase, query } from '../support/postgres.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newKey, newProject, type Project } from './fixtures.ts';
import { openInSchema } from './postgres.ts';

/* Statements that the database rejects, a BEGIN and a COMMIT among them. */

const unknown = { code: 'internal', message: expect.stringContaining('the outcome is unknown') };
const rejectTexts = `ALTER TABLE memories ADD CHECK (content <> 'rejected')`;

test('a statement that the database rejects does not end the session', async () => {
  await using opened = await openInSchema({ database: await newWholeDatabase() });
  const project = await newProject(opened);
  await project.save(memory());
  await query(opened.url, rejectTexts);
  const sessions = () =>
    query(
      opened.url,
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
         AND application_name = 'memory writer' ORDER BY pid`,
    );
  const before = await sessions();
  await rejectionOf(project.save(memory({ content: 'rejected' })));
  await project.save(memory());
  expect(before.length).toBeGreaterThan(0);
  // Further sessions may still have been starting.
  expect(await sessions()).toEqual(expect.arrayContaining(before));
});

test.each([
  ["the database server's disk is full", '53100'],
  ['part of the database cannot be reached', '08006'],
])('creating a key stores nothing if %s', async (fault, code) => {
  await using opened = await openInSchema();
  const raise = `RAISE 'failed' USING ERRCODE = '${code}';`;
  await createTrigger(opened.url, 'BEFORE INSERT ON api_keys', raise);
  const failed = opened.storage.createKey(newKey({ id: 'key_1' }));
  const message = `${fault}; nothing was stored`;
  expect(await rejectionOf(failed)).toMatchObject({ code: 'unavailable', message });
});

test('an update that fails because the disk is full makes the storage report a fault', async () => {
  await using opened = await openInSchema();
  const project = await newProject(opened);
  const given = memory();
  await project.save(given);
  const raise = `RAISE 'failed' USING ERRCODE = '53100';`;
  await createTrigger(opened.url, 'BEFORE UPDATE ON memories', raise);
  const failed = await rejectionOf(project.update(given.id, { content: 'newer' }));
  const message = "the database server's disk is full";
  expect(failed).toMatchObject({ code: 'unavailable', message: `${message}; nothing was stored` });
  expect((await opened.storage.health()).fault).toBe(message);
});

/** Saves a memory, and returns settings of the session that stored it. */
async function settingsOfSave(storage: Storage, url: string): Promise<unknown> {
  const project = await newProject({ storage });
  const names = ['synchronous_commit', 'transaction_timeout'];
  const pairs = names.map((name) => `'${name}', current_setting('${name}', true)`);
  const settings = `NEW.metadata := json_build_object(${pairs.join()})::text;`;
  await createTrigger(url, 'BEFORE INSERT ON memories', settings);
  await project.save(memory());
  const [stored] = await project.list();
  return stored?.metadata;
}

test('writes wait for the disk even if the database is set to synchronous_commit = off', async () => {
  const database = await newWholeDatabase();
  await query(database.url, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);
  await using opened = await openInSchema({ database });
  const settings = await settingsOfSave(opened.storage, database.url);
  expect(settings).toMatchObject({ synchronous_commit: 'on' });
});

test('settings of a session stay as they are while the database server reloads others', async () => {
  await using node = await newPrimary();
  const storage = await openStorage(node.url);
  try {
    await newProject({ storage });
    // This session is also open before the reload.
    const present = `SELECT current_setting('synchronous_commit') AS commit,
      current_setting('transaction_timeout') AS timeout`;
    await query(node.url, present);
    await node.query('ALTER SYSTEM SET synchronous_commit = off');
    await node.query(`ALTER SYSTEM SET transaction_timeout = '1h'`);
    await node.query('SELECT pg_reload_conf()');
    const reloaded = [{ commit: 'off', timeout: '1h' }];
    await until(async () => Bun.deepEquals(await query(node.url, present), reloaded));
    const own = { synchronous_commit: 'on', transaction_timeout: '0' };
    expect(await settingsOfSave(storage, node.url)).toEqual(own);
  } finally {
    await storage.close();
  }
});

/** Opens a storage whose first COMMITs of a new memory fail with this SQLSTATE. */
async function openWithFailingCommit(code: string, times = 1) {
  const opened = await openInSchema();
  await query(opened.url, 'CREATE SEQUENCE commits');
  await createTrigger(
    opened.url,
    'AFTER INSERT ON memories DEFERRABLE INITIALLY DEFERRED',
    `IF nextval('commits') <= ${times} THEN RAISE 'failed' USING ERRCODE = '${code}'; END IF;`,
  );
  return opened;
}

test.each([
  ['part of the database cannot be reached', '08006'],
  ['the session ends', '57P01'],
  ['the server ends an idle transaction', '25P03'],
])('a save has an unknown outcome if %s during COMMIT', async (_, code) => {
  await using opened = await openWithFailingCommit(code);
  const project = await newProject(opened);
  // A second attempt would store the memory.
  expect(await rejectionOf(project.save(memory()))).toMatchObject(unknown);
});

test.each(['40001', '23505'])(
  'a save is repeated as long as it conflicts with other transactions (%s)',
  async (code) => {
    await using opened = await openWithFailingCommit(code, 8);
    const project = await newProject(opened);
    await project.save(memory());
    expect(await project.list()).toHaveLength(1);
  },
);

test('a save that conflicts for five seconds is rejected, and nothing is stored', async () => {
  await using opened = await openWithFailingCommit('23505', 1_000_000);
  const project = await newProject(opened);
  expect(await rejectionOf(project.save(memory()))).toMatchObject({
    code: 'unavailable',
    message: 'the write conflicted with concurrent writes; nothing was stored',
  });
});

/** Without BEGIN, the server commits each statement of a transaction on its own. */
describe('a BEGIN that fails', () => {
  let database: Awaited<ReturnType<typeof newWholeDatabase>>;
  let proxy: ReturnType<typeof proxyTo>;
  let storage: Storage;
  let project: Project;
  let breaks = false;

  /** Turns the next BEGIN into a syntax error. */
  function breakBegin(bytes: Buffer): void {
    const at = breaks ? bytes.indexOf('BEGIN ISOLATION') : -1;
    if (at < 0) return;
    bytes.write('BROKE', at);
    breaks = false;
  }

  /**
   * Returns the rejection of a call whose BEGIN is broken, the first one of a new session: a
   * session sends the text of a statement only once. A session that has not noticed its end yet is
   * lost before that.
   */
  async function brokenRejection(purpose: 'writer' | 'reader', call: () => Promise<unknown>) {
    await endSessions(database.url, `memory ${purpose}`);
    breaks = true;
    let error: Error;
    do error = await rejectionOf(call());
    while (breaks);
    return error;
  }

  beforeEach(async () => {
    database = await newWholeDatabase();
    proxy = proxyTo(database.url, (_, bytes) => breakBegin(bytes));
    storage = await openStorage(proxy.url);
    project = await newProject({ storage });
  });
  afterEach(async () => {
    await storage.close();
    proxy.stop();
    await database.drop();
  });

  test.each([
    ['a save', {}],
    ['a save that reads first', { externalId: '1' }],
  ])('leaves the outcome of %s unknown', async (_, fields) => {
    const error = await brokenRejection('writer', () => project.save(memory(fields)));
    expect(error).toMatchObject(unknown);
    await project.save(memory({ userId: 'v' }));
  });

  test('rejects a search, which would not see a snapshot', async () => {
    await project.save(memory());
    const error = await brokenRejection('reader', () => project.search('text'));
    expect(error.message).toContain('syntax error');
  });
});
