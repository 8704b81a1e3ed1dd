import { expect, test } from 'bun:test';
import { readConfig } from '../../server/config.ts';
import { thrownBy } from '../support/thrown.ts';

const defaults = {
  port: 7070,
  host: '127.0.0.1',
  databaseUrl: 'sqlite:./data/memory.db',
  apiKey: null,
  corsOrigins: [],
  mcpHosts: [],
  logLevel: 'info',
  maxBodyBytes: 5_242_880,
  rateLimit: { requests: 6_000, seconds: 60 },
  embeddings: 'local',
  trustedProxies: [],
  metrics: 'on',
  console: 'on',
};

const settings = {
  PORT: '0',
  HOST: '::1',
  MEMORY_DATABASE_URL: 'sqlite:some/place.db',
  MEMORY_API_KEY: 'a-key-of-16-char',
  MEMORY_CORS_ORIGINS: 'https://app.example, http://localhost:5173',
  MEMORY_MCP_HOSTS: 'Memory.example, [2001:db8::1]',
  LOG_LEVEL: 'warn',
  MEMORY_MAX_BODY_BYTES: '1024',
  MEMORY_RATE_LIMIT: '10/1',
  MEMORY_EMBEDDINGS: 'https://models.example/v1/',
  MEMORY_EMBEDDINGS_MODEL: 'e5-small',
  MEMORY_EMBEDDINGS_KEY: 'sk-secret',
  MEMORY_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
  MEMORY_METRICS: 'off',
  MEMORY_CONSOLE: 'off',
};

test('without settings, and if all are empty, the defaults apply', () => {
  expect<unknown>(readConfig({})).toEqual(defaults);
  const empty = Object.fromEntries(Object.keys(settings).map((name) => [name, '']));
  expect<unknown>(readConfig(empty)).toEqual(defaults);
});

test('every setting is applied', () => {
  expect(readConfig(settings)).toEqual({
    port: 0,
    host: '::1',
    databaseUrl: 'sqlite:some/place.db',
    apiKey: 'a-key-of-16-char',
    corsOrigins: ['https://app.example', 'http://localhost:5173'],
    mcpHosts: ['memory.example', '[2001:db8::1]'],
    logLevel: 'warn',
    maxBodyBytes: 1_024,
    rateLimit: { requests: 10, seconds: 1 },
    embeddings: { url: 'https://models.example/v1', model: 'e5-small', key: 'sk-secret' },
    trustedProxies: ['10.0.0.0/8', '::1'],
    metrics: 'off',
    console: 'off',
  });
});

test('the rate limit can be switched off', () => {
  expect(readConfig({ MEMORY_RATE_LIMIT: 'off' }).rateLimit).toBeNull();
});

/** Invalid values of each setting. */
const rejected = {
  PORT: ['70700', '-1', '0x10'],
  MEMORY_DATABASE_URL: [
    ...['mysql://root@localhost', 'sqlite:', 'sqlite::memory:', 'postgres:///memory'],
    ...['postgres://me@localhost:port/memory', 'postgres://me@localhost'],
  ],
  MEMORY_API_KEY: ['x'.repeat(15), 'x'.repeat(257), 'sixteen or more with spaces'],
  MEMORY_CORS_ORIGINS: ['*', 'https://app.example/', 'https://app.example,'],
  MEMORY_MCP_HOSTS: ['memory.example:443'],
  LOG_LEVEL: ['loud'],
  MEMORY_MAX_BODY_BYTES: ['5 MiB', '1023', '1073741825'],
  MEMORY_RATE_LIMIT: ['6000', '0/60', '60/0'],
  MEMORY_EMBEDDINGS: [
    ...['on', 'ftp://models.example/v1', 'https://me:secret@models.example/v1'],
    'https://models.example/v1?key=secret',
  ],
  MEMORY_TRUSTED_PROXIES: ['localhost'],
  MEMORY_METRICS: ['public'],
};

test.each(Object.entries(rejected))('rejects invalid values of %s', (name, values) => {
  for (const value of values) {
    const { message } = thrownBy(() => readConfig({ [name]: value }));
    expect(message).toContain(`${name} must be `);
  }
});

test('all problems are reported together, on one line', () => {
  const broken = Object.entries(rejected).map(([name, [value]]) => [name, value]);
  const { message } = thrownBy(() => readConfig(Object.fromEntries(broken)));
  const [head, problems = ''] = message.split(': ');
  expect(head).toBe('Invalid settings');
  expect(problems.split('; ').map((one) => one.split(' ')[0])).toEqual(Object.keys(rejected));
});

test.each([
  { MEMORY_API_KEY: 'a secret that has spaces' },
  { MEMORY_EMBEDDINGS: 'http://127.0.0.1/v1', MEMORY_EMBEDDINGS_KEY: 'a secret that has spaces' },
  { MEMORY_EMBEDDINGS: 'http://me:secret@127.0.0.1/v1' },
])('a rejected secret is not printed', (env) => {
  expect(thrownBy(() => readConfig(env)).message).not.toContain('secret');
});

test('an endpoint needs the name of a model', () => {
  const env = { MEMORY_EMBEDDINGS: 'http://127.0.0.1:8080/v1' };
  expect(thrownBy(() => readConfig(env)).message).toContain('MEMORY_EMBEDDINGS_MODEL must be set');
});

test('the highest port and the largest body limit are accepted', () => {
  const config = readConfig({ PORT: '65535', MEMORY_MAX_BODY_BYTES: '1073741824' });
  expect(config).toMatchObject({ port: 65_535, maxBodyBytes: 1_073_741_824 });
});
