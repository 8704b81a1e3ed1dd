import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { endSessions, newWholeDatabase, type TestDatabase } from '../support/postgres.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newProject, type Project } from './fixtures.ts';

/* Without BEGIN, the server commits each statement of a transaction on its own. */

let database: TestDatabase;
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
 * Returns the rejection of a call whose BEGIN is broken, the first one of a new session: a session
 * sends the text of a statement only once. A session that has not noticed its end yet is lost
 * before that.
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
])('%s whose BEGIN fails has an unknown outcome', async (_, fields) => {
  const error = await brokenRejection('writer', () => project.save(memory(fields)));
  expect(error).toMatchObject({
    code: 'internal',
    message: expect.stringContaining('the outcome is unknown'),
  });
  await project.save(memory({ userId: 'v' }));
});

test('a search whose BEGIN fails is rejected, because it would not see a snapshot', async () => {
  await project.save(memory());
  const error = await brokenRejection('reader', () => project.search('text'));
  expect(error.message).toContain('syntax error');
});
