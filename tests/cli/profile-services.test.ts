import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { defaultBaseUrl } from '../../cli/client/connect.ts';
import { apiKeyPattern } from '../../server/config.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { memory, temporaryFolder } from './command.ts';

let staging: TestServer;
let production: TestServer;
beforeAll(async () => {
  [staging, production] = await Promise.all([startTestServer(), startTestServer()]);
});
afterAll(() => Promise.all([staging.stop(), production.stop()]));

const list = ['list', '--user', 'u'];

function memoryIn(home: string) {
  return (argv: string[], around: Parameters<typeof memory>[1] = {}) =>
    memory(argv, { ...around, home });
}

test('keys of two services are stored from stdin or the environment', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  const kept = await run(['profile', 'set', `${staging.url}/`, '-'], { stdin: `${staging.key}\n` });
  expect(kept).toMatchObject({ code: 0, stdout: '' });
  expect(kept.stderr).toContain(
    `To use this service by default: memory profile use ${staging.url}\n`,
  );
  const env = { MEMORY_API_KEY: production.key };
  expect((await run(['profile', 'set', production.url], { env })).code).toBe(0);
  const path = folder.file('.config/memory-service/profile.json');
  expect(statSync(path).mode & 0o777).toBe(0o600);

  await run(['profile', 'use', staging.url]);
  expect((await run(['save', '--user', 'u', 'in staging'])).code).toBe(0);
  expect(await run(list)).toMatchObject({ stdout: expect.stringContaining('in staging') });
  expect((await run(['profile', 'use', production.url])).stderr).toBe(
    `Commands now use ${production.url}.\n`,
  );
  expect(await run(list)).toMatchObject({ code: 0, stdout: '' });
  // A flag overrides the environment, which overrides the profile.
  const other = { env: { MEMORY_BASE_URL: staging.url } };
  expect((await run(list, other)).stdout).toContain('in staging');
  const flag = [...list, '--base-url', production.url];
  expect((await run(flag, other)).stdout).toBe('');
  const shown = await run(['profile', 'show', '--json']);
  expect(JSON.parse(shown.stdout).baseUrl).toEqual({ value: production.url, from: 'profile' });

  expect((await run(['profile', 'list'])).stderr).toBe('');
  const known = await run(['profile', 'list', '--json']);
  const ends = (key: string) => `${key.slice(0, 7)}…${key.slice(-4)}`;
  const items = [
    { baseUrl: staging.url, project: 'default', apiKey: ends(staging.key), used: false },
    { baseUrl: production.url, project: 'default', apiKey: ends(production.key), used: true },
  ];
  expect(JSON.parse(known.stdout)).toEqual({
    items: items.sort((a, b) => (a.baseUrl < b.baseUrl ? -1 : 1)),
  });

  const removed = await run(['profile', 'remove', production.url, '--json']);
  expect(JSON.parse(removed.stdout)).toEqual({ baseUrl: production.url, removed: true });
  expect((await run(['profile', 'list'])).stderr).toBe('');
  expect(readFileSync(path, 'utf8')).not.toContain(production.key);
  expect(await run(['profile', 'show'])).toMatchObject({
    stdout: expect.stringContaining('http://127.0.0.1:7070\tdefault'),
  });
  expect((await run(['profile', 'remove', production.url])).code).toBe(3);
});

test('a key given as an argument is neither stored nor repeated', async () => {
  using folder = temporaryFolder();
  const secret = 'mk_0199c2a4f1e87c3d9b5e6a7f80912b3c';
  const { code, stderr } = await memoryIn(folder.path)(['profile', 'set', 'http://x', secret]);
  expect(code).toBe(2);
  expect(stderr).not.toContain(secret);
});

test.each([
  'two words that are long enough',
  'schlüssel-mit-umlaut',
  'k'.repeat(15),
  'k'.repeat(16),
  'k'.repeat(256),
  'k'.repeat(257),
])('profile set stores only valid keys: %s', async (key) => {
  using folder = temporaryFolder();
  const taken = apiKeyPattern.test(key);
  const run = memoryIn(folder.path);
  for (const from of [{ stdin: key }, { env: { MEMORY_API_KEY: key } }]) {
    const argv = ['profile', 'set', 'http://x', ...('stdin' in from ? ['-'] : [])];
    const { code, stderr } = await run(argv, from);
    expect(stderr).toContain(
      taken ? 'Stored the key for http://x' : '16 to 256 visible ASCII characters',
    );
    expect(stderr).not.toContain(key);
    expect(code).toBe(taken ? 0 : 2);
  }
  expect(existsSync(folder.file('.config'))).toBe(taken);
});

test('a key typed at a terminal is not shown, may be corrected, and ends with Enter', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  const argv = ['profile', 'set', staging.url, '-'];
  const raw: boolean[] = [];
  const around = { terminal: 80, onRaw: (on: boolean) => void raw.push(on) };
  const kept = await run(argv, { ...around, typed: `${staging.key}x\u007f\rnot this` });
  expect(kept.stderr).toStartWith('API key (not shown): \nStored the key for ');
  expect((await run([...list, '--base-url', staging.url])).code).toBe(0);
  expect((await run(argv, { ...around, typed: `${staging.key}\u0003` })).code).toBe(130);
  expect((await run(argv, { ...around, typed: '\u0004' })).code).toBe(2);
  expect(raw).toEqual([true, false, true, false, true, false]);
});

test('replacing the key of a service prints the masked previous key', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  const set = async (stdin: string) =>
    (await run(['profile', 'set', 'http://x', '-'], { stdin })).stderr;
  const first = 'mk_0199c2a4f1e87c3d';
  expect(await set(first)).not.toContain('replaces');
  expect(await set(first)).not.toContain('replaces');
  const output = await set('mk_f1e87c3d0199c2a4');
  expect(output).toContain('\nReplaced the previous key: mk_0199…7c3d\n');
  expect(output).not.toContain(first);
  const inJson = await run(['profile', 'set', 'http://x', '-', '--json'], { stdin: first });
  expect(JSON.parse(inJson.stdout)).toEqual({
    baseUrl: 'http://x',
    project: 'default',
    apiKey: 'mk_0199…7c3d',
  });
  expect(inJson.stderr).toBe('Replaced the previous key: mk_f1e8…c2a4\n');
});

test('--api-key overrides the environment, and cannot be used with -', async () => {
  using folder = temporaryFolder();
  const around = { env: { MEMORY_API_KEY: 'mk_f1e87c3d0199c2a4' }, stdin: 'mk_f1e87c3d0199c2a4' };
  const set = (...more: string[]) =>
    memoryIn(folder.path)(['profile', 'set', 'http://x', '--json', ...more], around);
  const flag = ['--api-key', 'mk_0199c2a4f1e87c3d'];
  expect(JSON.parse((await set(...flag)).stdout).apiKey).toBe('mk_0199…7c3d');
  expect(await set('-', ...flag)).toMatchObject({ code: 2 });
  expect(await set('--api-key', '')).toMatchObject({ code: 2 });
});

test('hints explain a missing key and a variable that overrides the profile', async () => {
  using folder = temporaryFolder();
  const env = { MEMORY_BASE_URL: staging.url };
  const { code, stderr } = await memoryIn(folder.path)(['profile', 'use', 'https://m.example/'], {
    env,
  });
  expect(stderr).toContain('MEMORY_BASE_URL is set and overrides the profile.');
  expect(stderr).toContain('memory profile set https://m.example -');
  expect(code).toBe(0);
});

test('on a terminal, profile list shows "none" as the key of a service without one', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  await run(['profile', 'use', 'https://m.example']);
  const { stdout } = await run(['profile', 'list'], { terminal: 80 });
  expect(stdout).toMatch(/^https:\/\/m\.example +none +used$/m);
});

test('for text that is not an address, the error lists the known services', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  const early = await run(['profile', 'use', 'staging']);
  expect(early.stderr).toEndWith('The profile has no services yet.\n');
  await run(['profile', 'set', staging.url, '-'], { stdin: staging.key });
  const { code, stderr } = await run(['profile', 'use', 'staging']);
  expect(stderr).toEndWith(
    `A service is identified by its URL. The profile contains ${staging.url}\n`,
  );
  expect([early.code, code]).toEqual([2, 2]);
});

test('without a key for this service, the error names services that have one', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  const first = await run(list);
  expect(first.stderr).toContain('creates the first key: memory serve');
  await run(['profile', 'set', staging.url, '-'], { stdin: staging.key });
  const { code, stderr } = await run(list);
  expect(stderr).toEndWith(
    `Add --base-url ${staging.url}, or set the default: memory profile use ${staging.url}\n`,
  );
  expect([first.code, code]).toEqual([4, 4]);
});

test.each([
  ['http://me:secret@127.0.0.1:1', 'must not contain a user name, query or fragment'],
  ['http://127.0.0.1:1/?a=b', 'must not contain a user name, query or fragment'],
  ['ftp://me:secret@127.0.0.1:1', 'is not an http or https URL'],
])('%s is not a valid base URL: exit 2, without its password', async (url, why) => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  for (const argv of [
    ['profile', 'use', url],
    [...list, '--base-url', url],
  ]) {
    const { code, stdout, stderr } = await run(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('secret');
  }
});

test('a key created here never replaces the key of a remote service in the profile', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  const env = { MEMORY_DATABASE_URL: staging.databaseUrl };
  await run(['profile', 'use', 'https://m.example']);
  const { code, stdout, stderr } = await run(['keys', 'create', '--save'], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('the profile uses https://m.example.');
  expect(stderr).toEndWith(`: memory keys create --save --base-url ${defaultBaseUrl}\n`);
  const named = ['keys', 'create', '--save', '--base-url', staging.url];
  expect((await run(named, { env })).code).toBe(0);
  expect((await run([...list, '--base-url', staging.url])).code).toBe(0);
});

test('a key created here is stored for a local service in the profile', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  const env = { MEMORY_DATABASE_URL: staging.databaseUrl };
  for (const url of [defaultBaseUrl, staging.url.replace('127.0.0.1', 'localhost')]) {
    await run(['profile', 'use', url]);
    const { code, stderr } = await run(['keys', 'create', '--save'], { env });
    expect(stderr).toContain(`Stored the key for ${url.replace('localhost', '127.0.0.1')} in `);
    expect(code).toBe(0);
  }
  expect((await run(list)).code).toBe(0);
});

test('an invalid address in the profile causes an error that names the file', async () => {
  using folder = temporaryFolder();
  const path = folder.file('.config/memory-service/profile.json');
  await Bun.write(path, '{"baseUrl":"ftp://x"}');
  const { code, stderr } = await memoryIn(folder.path)(list);
  expect(stderr).toContain(
    `The profile ${path} cannot be read: its contents are not a valid profile.`,
  );
  expect(code).toBe(1);
});

test('a service that is used but has no key can be removed', async () => {
  using folder = temporaryFolder();
  const run = memoryIn(folder.path);
  await run(['profile', 'use', 'https://m.example']);
  const removed = await run(['profile', 'remove', 'https://m.example']);
  expect(removed).toMatchObject({ code: 0, stderr: 'Removed https://m.example.\n' });
  const shown = await run(['profile', 'show', '--json']);
  expect(JSON.parse(shown.stdout).baseUrl).toEqual({ value: defaultBaseUrl, from: 'default' });
});
