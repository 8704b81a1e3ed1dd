import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { IngestStatuses } from '../../sdk/contract/status.ts';
import { ask, bodyOf, importAll, ingest, newUser, whenComplete } from '../support/http.ts';
import { startTestServer, withProject } from '../support/server.ts';
import { until } from '../support/until.ts';
import { importable } from '../support/writes.ts';
import { unsplittable } from './unsplittable-text.ts';

/* The queue of a running server. */

const server = await withProject();

async function ingestText(): Promise<string> {
  const record = { userId: newUser(), data: { text: 'text' } };
  return (await ingest(server, '/v1/ingest/document', record)).memoryId;
}

async function importPending(): Promise<string> {
  const item = { ...importable(newUser()), status: 'processing' };
  expect(await importAll(server, [item])).toMatchObject({ imported: 1 });
  return item.id;
}

test.each([
  ['ingested', ingestText],
  ['imported', importPending],
])(
  'a record that is %s is processed at once, not at the next poll of the queue',
  async (_, write) => {
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      // After this pause, the worker is asleep.
      await Bun.sleep(50);
      const begun = performance.now();
      await whenComplete(server, await write());
      waits.push(performance.now() - begun);
    }
    // Without a wake-up, each record after the first would wait for the next poll.
    expect(Math.min(...waits.slice(1))).toBeLessThan(200);
  },
);

test('a normal stop uses up no attempt of the tasks that the service had claimed', async () => {
  await using own = await startTestServer();
  const data = { text: 'A sentence of some length. '.repeat(170) };
  const body = { items: Array(1_000).fill({ type: 'document', userId: newUser(), data }) };
  const answer = await ask(own, 'POST', '/v1/ingest/batch', { body });
  const memoryIds = bodyOf<BatchAccepted>(answer, 202).items.map(({ memoryId }) => memoryId);
  await own.restart();
  const processed = async () => {
    const found = await ask(own, 'POST', '/v1/memories/status', { body: { memoryIds } });
    const { items } = bodyOf<IngestStatuses>(found, 200);
    return items.every(({ status }) => status === 'complete') ? items : null;
  };
  const statuses = await until(processed, { what: 'the processing', timeoutMs: 30_000 });
  expect(new Set(statuses.map(({ attempts }) => attempts))).toEqual(new Set([1]));
});

/** Starts a server whose tasks thread cannot process some texts. */
async function start(level: string) {
  const lines: string[] = [];
  const preload = [join(import.meta.dir, 'unsplittable-text.ts')];
  const log = (line: string) => void lines.push(line);
  return { lines, ...(await startTestServer({ LOG_LEVEL: level }, preload, { log })) };
}

const text = `${unsplittable}. `.repeat(100);

test('the log states which record could not be processed, and why, but not its text', async () => {
  await using server = await start('warn');
  const { memoryId } = await server.client.ingest.document({ userId: 'u', data: { text } });
  const find = () => server.lines.find((line) => line.includes(memoryId));
  const line = await until(find, { what: 'a line about the record' });
  expect(JSON.parse(line)).toMatchObject({
    level: 'warn',
    message: 'a task failed',
    memoryId,
    // The stack shows in which function the error was thrown.
    error: expect.stringMatching(/the split failed.*chunksOf/s),
  });
  expect(line).not.toContain(unsplittable);
});

test('the tasks thread logs nothing below the log level', async () => {
  await using server = await start('error');
  const { client, lines } = server;
  const { memoryId } = await client.ingest.document({ userId: 'u', data: { text } });
  await until(async () => (await client.status(memoryId)).attempts > 0, { what: 'an attempt' });
  expect(lines).toEqual([]);
});

test.skipIf(process.env.TEST_BACKEND === 'postgres')(
  'the log has the cause of an error of the database, once while it lasts',
  async () => {
    await using server = await start('debug');
    const file = new Database(server.databaseUrl.replace('sqlite:', ''));
    file.run('PRAGMA busy_timeout = 10000');
    file.run('BEGIN IMMEDIATE');
    const failures = () => server.lines.filter((line) => line.includes('the task queue failed'));
    await until(() => failures().length > 2, { what: 'lines about the queue' });
    file.close(true);
    const [first, ...later] = failures().map((line) => JSON.parse(line));
    expect(first.level).toBe('error');
    expect(first.error).toMatch(/nothing was stored.*caused by SQLiteError/s);
    expect(new Set(later.map(({ level }) => level))).toEqual(new Set(['debug']));
  },
);
