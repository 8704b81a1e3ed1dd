import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { unsplittable } from './unsplittable-text.ts';

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
    error: expect.stringMatching(/the split failed.*splitChunks/s),
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
