import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../server/main.ts';

const env = { LOG_LEVEL: 'silent' };

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
