import { expect, test } from 'bun:test';
import { lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { profilePath, readProfile, serviceName, storeKey } from '../../cli/client/profile.ts';
import { temporaryFolder } from '../support/folder.ts';
import { noHome } from '../support/process.ts';
import { startTestServer } from '../support/server.ts';
import { hasIpv6 } from '../support/socket.ts';
import { until } from '../support/until.ts';
import { expectRan, memory, testTerminal } from './command.ts';
import { program } from './shell.ts';

/* What transcripts/profile.txt cannot show: files, terminals and other systems. */

const terminalIn = (home: string) => testTerminal({ home });
const apiKey = 'a-key-for-tests-1234';
const env = { MEMORY_API_KEY: apiKey };
const shared = { baseUrl: 'http://127.0.0.1:7070', project: 'default' };

test('the profile is in the configuration folder of the system', () => {
  const platform = { home: '/ada', env: {}, platform: 'linux' };
  expect(profilePath(platform)).toBe('/ada/.config/memory-service/profile.json');
  expect(profilePath({ ...platform, env: { XDG_CONFIG_HOME: '/xdg' } })).toStartWith('/xdg/');
  expect(profilePath({ ...platform, platform: 'win32' })).toContain('AppData');
});

test('a link to the profile stays a link, and a broken one is not replaced', async () => {
  using folder = temporaryFolder();
  const path = profilePath(terminalIn(folder.path));
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(folder.file('real.json'), path);
  const set = () => memory(['profile', 'set', 'http://x'], { home: folder.path, env });
  expectRan(await set(), 1, path);
  writeFileSync(folder.file('real.json'), '{}');
  expect((await set()).code).toBe(0);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  const stored = await Bun.file(folder.file('real.json')).json();
  expect(stored).toEqual({ keys: { 'http://x': { apiKey } } });
});

test('a profile that cannot be written leaves no other file', async () => {
  using folder = temporaryFolder();
  const path = profilePath(terminalIn(folder.path));
  await Bun.write(path, '{}');
  // A write beyond the limit fails, as on a full disk.
  const line = 'trap "" XFSZ; ulimit -f 0; exec "$@" profile set http://x';
  const child = Bun.spawn(['bash', '-c', line, 'bash', ...program], {
    env: { ...noHome, ...env, HOME: folder.path },
    stderr: 'pipe',
  });
  expect(await child.stderr.text()).toStartWith('Error: EFBIG');
  expect(await child.exited).toBe(1);
  expect(readdirSync(dirname(path))).toEqual(['profile.json']);
});

test('a first start replaces the key of another first start, but no key of the user', () => {
  using folder = temporaryFolder();
  const term = terminalIn(folder.path);
  const first = { ...shared, firstRun: true } as const;
  expect(storeKey(term, { ...first, apiKey: 'first' })).toBe(true);
  expect(storeKey(term, { ...first, apiKey: 'second' })).toBe(true);
  expect(storeKey(term, { ...shared, apiKey: 'mine' })).toBe(true);
  expect(storeKey(term, { ...first, apiKey: 'third' })).toBe(false);
  expect(readProfile(term).keys).toEqual({ [shared.baseUrl]: { apiKey: 'mine' } });
  // Only its user can read the profile.
  expect(statSync(profilePath(term)).mode & 0o777).toBe(0o600);
});

test.each(['localhost', '0.0.0.0', '[::1]', '[::]'])('%s is the local machine', (host) => {
  expect(serviceName(`http://${host}:7070/`)).toBe('http://127.0.0.1:7070');
});

test.if(hasIpv6)('a service at ::1 is used at that address', async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  await using server = await startTestServer({ ...env, HOST: '::1' });
  const { url, databaseUrl } = server;
  const whoami = async () => JSON.parse((await memory(['whoami', '--json'], { home })).stdout);
  const create = ['keys', 'create', '--save', '--name', 'saved', '--database', databaseUrl];
  const { stderr } = await memory([...create, '--base-url', url], { home });
  expect(stderr).toContain(`Commands now use project default of ${url}.\n`);
  await until(async () => (await whoami()).name === 'saved', { what: 'the key to be accepted' });
  const set = await memory(['profile', 'set', url, '--project', 'shop'], { home, env });
  expect(set.stderr).toContain(`memory profile use ${url} --project shop\n`);
  const use = ['profile', 'use', `${url}/`, '--project', 'shop', '--json'];
  const { stdout } = await memory(use, { home });
  expect(JSON.parse(stdout)).toEqual({ baseUrl: url, project: 'shop' });
  expect(await whoami()).toMatchObject({ name: 'MEMORY_API_KEY' });
});

test.each([
  ['', 'it is not'],
  ['{"keys":{"http://x":{}}}', 'it is not'],
  ['{"baseUrl":5}', 'it is not'],
  ['{"baseUrl":"ftp://x"}', 'it is not'],
  [null, 'EISDIR'],
])('the profile %p is reported with its path and the reason', async (text, reason) => {
  using folder = temporaryFolder();
  const path = profilePath(terminalIn(folder.path));
  if (text === null) mkdirSync(path, { recursive: true });
  else await Bun.write(path, text);
  const ran = await memory(['list', '--user', 'ada'], { home: folder.path });
  expectRan(ran, 1, `The profile ${path} cannot be read: ${reason}`);
});

test('a key typed at a terminal is not shown, may be corrected, and ends with Enter', async () => {
  using folder = temporaryFolder();
  const raw: boolean[] = [];
  const around = { home: folder.path, terminal: 80, onRaw: (on: boolean) => void raw.push(on) };
  const set = ['profile', 'set', 'http://x', '-'];
  const kept = await memory(set, { ...around, typed: 'a-key-of-the-server!\u007f\rnot this' });
  expect(kept.stderr).toStartWith('API key (not shown): \nStored the key');
  expect(raw).toEqual([true, false]);
  const { keys } = readProfile(terminalIn(folder.path));
  expect(keys).toEqual({ 'http://x': { apiKey: 'a-key-of-the-server' } });
  expect((await memory(set, { ...around, typed: 'a-key\u0003' })).code).toBe(130);
  expect((await memory(set, { ...around, typed: '\u0004' })).code).toBe(2);
});

test('a key created here never replaces the key of a remote service', async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  const create = async (baseUrl: string) => {
    const keys = { [baseUrl]: { apiKey: 'a-key-of-the-server' } };
    await Bun.write(profilePath(terminalIn(home)), JSON.stringify({ baseUrl, keys }));
    return memory(['keys', 'create', '--save', '--database', folder.file('new.db')], { home });
  };
  const refused = await create('https://memory.example');
  expectRan(refused, 2, "Specify the key's service with --base-url");
  const { stdout } = await create('http://127.0.0.1:9');
  const { keys } = readProfile(terminalIn(home));
  expect(keys['http://127.0.0.1:9']).toEqual({ apiKey: stdout.trim() });
});
