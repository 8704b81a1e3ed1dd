import { afterAll, expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Health } from '../../sdk/contract/status.ts';
import { MemoryClient } from '../../sdk/index.ts';
import { startServer } from '../../server/main.ts';
import { openFile, saveMany } from '../storage/sqlite.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'memory-damage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = 'damage-test-key-0123456789abcdef';

async function serveLarge(path: string, logged: string[] = []) {
  const env = { MEMORY_API_KEY: key, MEMORY_EMBEDDINGS: 'off' };
  const log = (line: string) => logged.push(line);
  const server = await startServer({ env, databaseUrl: `sqlite:${path}`, port: 0, log });
  const health = () => fetch(`${server.url}/health`).then((r) => r.json() as Promise<Health>);
  const headers = { authorization: `Bearer ${key}` };
  const list = () => fetch(`${server.url}/v1/memories?userId=u`, { headers });
  return { health, list, [Symbol.asyncDispose]: () => server.stop() };
}

test('damage in a file too large for the startup check is detected while serving', async () => {
  const path = join(folder, 'memory.db');
  const storage = await openFile(path);
  await saveMany(storage, 20, 'x'.repeat(1_000_000));
  await storage.close();
  {
    await using sound = await serveLarge(path);
    expect(await sound.health()).toMatchObject({ status: 'ok' });
    expect((await sound.list()).status).toBe(200);
  }
  const middle = Math.floor(statSync(path).size / 2);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(64 * 1024, 0xff), 0, 64 * 1024, middle);
  closeSync(file);
  const logged: string[] = [];
  await using damaged = await serveLarge(path, logged);
  const failing = await until(async () => {
    const state = await damaged.health();
    return state.status === 'failing' ? state : null;
  });
  expect(failing.message).toContain('the database is damaged');
  expect(logged.join()).toContain('memory restore');
  const rejected = await damaged.list();
  expect(rejected.status).toBe(503);
  expect(await rejected.json()).toMatchObject({ message: failing.message });
});

test('a healthy server reports a warning from its storage and logs it once', async () => {
  const lines: string[] = [];
  const server = await startServer({
    env: { MEMORY_API_KEY: key, MEMORY_EMBEDDINGS: 'off' },
    preload: [join(import.meta.dir, '../storage/failing-sync-in-scrub.ts')],
    databaseUrl: `sqlite:${join(folder, 'warned.db')}`,
    port: 0,
    log: (line) => lines.push(line),
  });
  try {
    const client = new MemoryClient({ apiKey: key, baseUrl: server.url });
    await client.save({ userId: 'u', content: 'x' });
    await client.deleteAll({ userId: 'u' });
    const { status, message } = await until(async () => {
      const state = await client.health();
      return state.message === undefined ? null : state;
    });
    expect({ status, message }).toEqual({
      status: 'ok',
      message: expect.stringContaining('could not be synced to the disk'),
    });
    const entries = lines.map((line) => JSON.parse(line) as { level: string; message: string });
    const logged = entries.filter((entry) => entry.level === 'error' && entry.message === message);
    expect(logged).toHaveLength(1);
  } finally {
    await server.stop();
  }
});
