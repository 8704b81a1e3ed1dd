import { expect, test } from 'bun:test';
import { type RunningServer, startServer } from '../../server/main.ts';
import { withFolder } from '../support/folder.ts';

const env = { LOG_LEVEL: 'silent', MEMORY_EMBEDDINGS: 'off' };

const folder = withFolder();
let databases = 0;
function newDatabaseUrl(): string {
  databases += 1;
  return `sqlite:${folder.file(`a folder/memory é%20${databases}.db`)}`;
}

test('what is in use or elsewhere is reported, and a later start creates the first key', async () => {
  const databaseUrl = newDatabaseUrl();
  const server = await startServer({ env, port: 0, databaseUrl });
  expect(server.firstKey).toStartWith('mk_');
  const { port } = new URL(server.url);
  const onPort = { env, port: Number(port), databaseUrl: newDatabaseUrl() };
  await expect(startServer(onPort)).rejects.toThrow(`127.0.0.1:${port}: the port is in use`);
  const onDatabase = startServer({ env, port: 0, databaseUrl });
  await expect(onDatabase).rejects.toThrow('a server is already using');
  const elsewhere = startServer({ env, port: 0, host: '192.0.2.1', databaseUrl: newDatabaseUrl() });
  await expect(elsewhere).rejects.toThrow('address not available. Check --host');
  await server.stop();
  for (const firstKey of [expect.stringMatching(/^mk_/), null]) {
    const again = await startServer(onPort);
    expect(again.firstKey).toEqual(firstKey);
    await again.stop();
  }
});

test('a start that fails after it has opened the port closes the port', async () => {
  const databaseUrl = newDatabaseUrl();
  let port = 0;
  const keepFirstKey = (_: string, url: string) => {
    port = Number(new URL(url).port);
    return Promise.reject(new Error('the profile is gone'));
  };
  const failed = startServer({ env, port: 0, databaseUrl, keepFirstKey });
  await expect(failed).rejects.toThrow('the profile is gone');
  const server = await startServer({ env, port, databaseUrl });
  expect(server.firstKey).toStartWith('mk_');
  await server.stop();
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
  const unused = { MEMORY_EMBEDDINGS_MODEL: 'bge-m3', MEMORY_EMBEDDINGS_KEY: 'secret' };
  const only = 'has no effect unless MEMORY_EMBEDDINGS is a URL';
  const models = Object.keys(unused).map((name) => `${name} ${only}`);
  expect(await warningsAtStart({ ...settings, ...unused })).toEqual([...warnings, ...models]);
});

test('known settings, empty values and other variables cause no warning; a key is the only one', async () => {
  const key = 'a-key-of-16-char';
  const settings = {
    MEMORY_API_KEY: key,
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
  const warnings = await warningsAtStart({ ...settings, ...others }, async (server) => {
    expect(server.firstKey).toBeNull();
    const headers = { authorization: `Bearer ${key}` };
    const about = { project: 'default', name: 'MEMORY_API_KEY', lastFour: 'char' };
    const found = await (await fetch(`${server.url}/v1/key`, { headers })).json();
    expect(found).toEqual({ ...about, userId: null, readOnly: false, expiresAt: null });
  });
  expect(warnings).toEqual([]);
});

async function warningsAtStart(
  settings: Record<string, string>,
  use = async (_: RunningServer) => {},
): Promise<string[]> {
  const lines: { level: string; message: string }[] = [];
  const log = (line: string) => lines.push(JSON.parse(line));
  const server = await startServer({ env: settings, port: 0, databaseUrl: newDatabaseUrl(), log });
  await use(server);
  await server.stop();
  return lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
}
