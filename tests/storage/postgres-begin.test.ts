import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newWholeDatabase, query, type TestDatabase } from '../support/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newProject, type Project } from './fixtures.ts';

/* Without BEGIN, the server commits each statement of a transaction on its own. */

let database: TestDatabase;
let proxy: TcpProxy;
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

/** Breaks the next BEGIN of the sessions, which send its text only once. */
async function breakNext(purpose: 'writer' | 'reader'): Promise<void> {
  await query(
    database.url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'memory ${purpose}'`,
  );
  breaks = true;
}

beforeEach(async () => {
  database = await newWholeDatabase();
  const url = new URL(database.url);
  const address = { hostname: url.hostname, port: Number(url.port) };
  proxy = startTcpProxy(address, (_, bytes) => breakBegin(bytes));
  url.port = String(proxy.port);
  storage = await openStorage(url.href);
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
])('%s whose BEGIN fails has an unknown outcome', async (_, fields) => {
  await breakNext('writer');
  expect(await rejectionOf(project.save(memory(fields)))).toMatchObject({
    code: 'internal',
    message: expect.stringContaining('the outcome is unknown'),
  });
  expect(breaks).toBe(false);
  await project.save(memory({ userId: 'v' }));
});

test('a search whose BEGIN fails is rejected, because it would not see a snapshot', async () => {
  await project.save(memory());
  await breakNext('reader');
  expect((await rejectionOf(project.search('text'))).message).toContain('syntax error');
  expect(breaks).toBe(false);
});
