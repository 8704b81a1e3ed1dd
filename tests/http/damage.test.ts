import { expect, test } from 'bun:test';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openFile, saveMany } from '../storage/sqlite.ts';
import { withFolder } from '../support/folder.ts';
import { ask, expectError, getPage } from '../support/http.ts';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const folder = withFolder();
const env = { MEMORY_API_KEY: 'damage-test-key-0123456789abcdef', LOG_LEVEL: 'info' };

test('damage in a file too large for the startup check is detected while serving', async () => {
  const path = folder.file('memory.db');
  const storage = await openFile(path);
  await saveMany(storage, 20, 'x'.repeat(1_000_000));
  await storage.close();
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  const serve = () => startTestServer(env, [], { databaseUrl: `sqlite:${path}`, log });
  {
    await using sound = await serve();
    expect(await sound.client.health()).toMatchObject({ status: 'ok' });
    await getPage(sound, 'u');
  }
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(64 * 1024, 0xff), 0, 64 * 1024, statSync(path).size >> 1);
  closeSync(file);
  await using damaged = await serve();
  const health = () => damaged.client.health();
  const failing = await until(health, { fits: ({ status }) => status === 'failing' });
  expect(failing.message).toContain('the database is damaged');
  expect(logged.join()).toContain('memory restore');
  const rejected = await ask(damaged, 'GET', '/v1/memories?userId=u');
  expectError(rejected, 503, 'unavailable');
  expect(rejected.body).toMatchObject({ message: failing.message });
});

test('a healthy server reports a warning from its storage and logs it once', async () => {
  const lines: string[] = [];
  const preload = [join(import.meta.dir, '../storage/failing-sync-in-scrub.ts')];
  const databaseUrl = `sqlite:${folder.file('warned.db')}`;
  const log = (line: string) => void lines.push(line);
  await using server = await startTestServer(env, preload, { databaseUrl, log });
  const { client } = server;
  await client.save({ userId: 'u', content: 'x' });
  await client.deleteAll({ userId: 'u' });
  const fits = (state: { message?: string }) => state.message !== undefined;
  const { status, message } = await until(() => client.health(), { fits });
  expect(status).toBe('ok');
  expect(message).toContain('could not be synced to the disk');
  const entries = lines.map((line) => JSON.parse(line) as { level: string; message: string });
  const logged = entries.filter((entry) => entry.level === 'error' && entry.message === message);
  expect(logged).toHaveLength(1);
});
