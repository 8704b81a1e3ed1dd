import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../server/main.ts';

const env = { LOG_LEVEL: 'silent', MEMORY_EMBEDDINGS: 'off' };

async function inFolder(use: (databaseUrl: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-start-'));
  try {
    await use(`sqlite:${join(folder, 'a folder', 'memory é%20.db')}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('an address that belongs to another machine is reported', async () => {
  await inFolder(async (databaseUrl) => {
    const start = startServer({ env, port: 0, host: '192.0.2.1', databaseUrl });
    await expect(start).rejects.toThrow('address not available. Check --host');
  });
});

test('a port in use is reported, and the next start still creates the first key', async () => {
  await inFolder(async (databaseUrl) => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const port = taken.port ?? 0;
    const start = startServer({ env, port, databaseUrl });
    await expect(start).rejects.toThrow(`127.0.0.1:${port}: the port is in use`);
    await taken.stop(true);
    const server = await startServer({ env, port: 0, databaseUrl });
    expect(server.firstKey).toStartWith('mk_');
    await server.stop();
    const again = await startServer({ env, port: 0, databaseUrl });
    expect(again.firstKey).toBeNull();
    await again.stop();
  });
});

test('a second server on the same database is rejected with a readable message', async () => {
  await inFolder(async (databaseUrl) => {
    const server = await startServer({ env, port: 0, databaseUrl });
    const second = startServer({ env, port: 0, databaseUrl });
    await expect(second).rejects.toThrow('a server is already using');
    await server.stop();
  });
});

test('all invalid settings are listed', async () => {
  const broken = { PORT: 'abc', MEMORY_RATE_LIMIT: 'many', MEMORY_API_KEY: 'short' };
  const start = startServer({ env: { ...env, ...broken } });
  await expect(start).rejects.toThrow(/PORT[\s\S]*MEMORY_API_KEY[\s\S]*MEMORY_RATE_LIMIT/);
});

test('no first key is created if the settings contain a key', async () => {
  await inFolder(async (databaseUrl) => {
    const key = 'a key of my own, '.replaceAll(/[ ,]/g, '_');
    const settings = { ...env, MEMORY_API_KEY: key };
    const server = await startServer({ env: settings, port: 0, databaseUrl });
    expect(server.firstKey).toBeNull();
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${server.url}/v1/memories?userId=u`, { headers });
    expect(answer.status).toBe(200);
    await server.stop();
  });
});

test('a second server on the same port is rejected, even if it uses another database', async () => {
  await inFolder(async (databaseUrl) => {
    const server = await startServer({ env, port: 0, databaseUrl });
    const port = Number(new URL(server.url).port);
    const second = startServer({ env, port, databaseUrl: `${databaseUrl}.second` });
    await expect(second).rejects.toThrow(`127.0.0.1:${port}: the port is in use`);
    await server.stop();
  });
});

test('each setting that does not exist causes a warning at the start', async () => {
  const advice = {
    MEMORY_BASEURL: 'did you mean MEMORY_BASE_URL?',
    MEMORY_CORS_ORIGIN: 'did you mean MEMORY_CORS_ORIGINS?',
    MEMORY_DATABSE_URL: 'did you mean MEMORY_DATABASE_URL?',
    MEMORY_LOG_LEVEL: 'did you mean LOG_LEVEL?',
    MEMORY_PORT: 'did you mean PORT?',
    MEMORY_RATELIMIT: 'did you mean MEMORY_RATE_LIMIT?',
    MEMORY_TELEPORTATION: 'see memory serve --help',
  };
  const settings = Object.fromEntries(Object.keys(advice).map((name) => [name, 'secret']));
  const warnings = Object.entries(advice).map(
    ([name, words]) => `${name} is not a setting and has no effect; ${words}`,
  );
  expect(await warningsAtStart(settings)).toEqual(warnings);
});

test('known settings, empty values and other variables cause no warning', async () => {
  const settings = {
    MEMORY_API_KEY: 'a-key-of-16-char',
    MEMORY_BASE_URL: 'http://127.0.0.1:7070',
    MEMORY_CORS_ORIGINS: 'https://app.example',
    MEMORY_MAX_BODY_BYTES: '2000',
    MEMORY_MCP_HOSTS: 'memory.example',
    MEMORY_RATE_LIMIT: 'off',
    MEMORY_EMBEDDINGS: 'off',
    MEMORY_EMBEDDINGS_MODEL: 'unused',
    MEMORY_EMBEDDINGS_KEY: 'unused',
  };
  // systemd sets MEMORY_PRESSURE_WATCH.
  const others = { MEMORY_UNUSED: '', MEMORY_PRESSURE_WATCH: '/sys/fs/cgroup', MEMORIES: '1' };
  expect(await warningsAtStart({ ...settings, ...others })).toEqual([]);
});

test('a model without an address causes a warning', async () => {
  expect(await warningsAtStart({ MEMORY_EMBEDDINGS_MODEL: 'bge-m3' })).toEqual([
    'MEMORY_EMBEDDINGS_MODEL has no effect unless MEMORY_EMBEDDINGS is a URL',
  ]);
});

async function warningsAtStart(settings: Record<string, string>): Promise<string[]> {
  const lines: { level: string; message: string }[] = [];
  await inFolder(async (databaseUrl) => {
    const log = (line: string) => lines.push(JSON.parse(line));
    const server = await startServer({ env: settings, port: 0, databaseUrl, log });
    await server.stop();
  });
  return lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
}
