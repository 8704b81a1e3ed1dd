import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { profilePath, readProfile, serviceName, storeKey } from '../../cli/client/profile.ts';
import type { Terminal } from '../../cli/terminal/terminal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { memory, temporaryFolder, testTerminal } from './command.ts';
import { program } from './shell.ts';

const url = 'http://127.0.0.1:7070';

function ioAt(home: string) {
  return testTerminal({ code: 0, stdout: '', stderr: '' }, { home });
}

function storeFirstRunKey(term: Terminal, service: string, apiKey: string) {
  return storeKey(term, { service, project: 'default', apiKey, firstRun: true });
}

describe('the profile', () => {
  test('is in the configuration folder of the system', () => {
    const at = (env: Record<string, string>, platform = 'linux') =>
      profilePath({ env, home: '/her', platform });
    expect(at({})).toBe('/her/.config/memory-service/profile.json');
    expect(at({ XDG_CONFIG_HOME: '/x' })).toBe('/x/memory-service/profile.json');
    expect(at({ APPDATA: '/a' }, 'win32')).toBe('/a/memory-service/profile.json');
  });

  test('stores a first-run key in a file that only its user can read, and replaces it later', async () => {
    using folder = temporaryFolder();
    const term = ioAt(folder.path);
    expect(await storeFirstRunKey(term, url, 'mk_1')).toMatchObject({ isStored: true });
    const second = { isStored: true, replaced: 'mk_1…' };
    expect(await storeFirstRunKey(term, url, 'mk_2')).toEqual(second);
    expect(readProfile(term)).toEqual({
      keys: { [url]: { apiKey: 'mk_2', firstRun: true } },
    });
    expect(statSync(profilePath(term)).mode & 0o777).toBe(0o600);
    expect((await readdir(dirname(profilePath(term)))).sort()).toEqual([
      'profile.json',
      'profile.lock',
    ]);
  });

  test('never overwrites a key that the user stored', async () => {
    using folder = temporaryFolder();
    const term = ioAt(folder.path);
    const own = { keys: { [url]: { apiKey: 'mine' } }, later: true };
    mkdirSync(dirname(profilePath(term)), { recursive: true });
    writeFileSync(profilePath(term), JSON.stringify(own));
    expect(await storeFirstRunKey(term, url, 'mk_1')).toMatchObject({ isStored: false });
    const other = 'http://127.0.0.1:8080';
    expect(await storeFirstRunKey(term, other, 'mk_2')).toMatchObject({ isStored: true });
    expect<unknown>(readProfile(term)).toEqual({
      keys: { ...own.keys, 'http://127.0.0.1:8080': { apiKey: 'mk_2', firstRun: true } },
      later: true,
    });
  });

  test('keeps the keys of all concurrent writers', async () => {
    using folder = temporaryFolder();
    const term = ioAt(folder.path);
    const urls = Array.from({ length: 30 }, (_, port) => `http://127.0.0.1:${8000 + port}`);
    await Promise.all(urls.map((one) => storeFirstRunKey(term, one, 'mk_1')));
    expect(Object.keys(readProfile(term).keys).sort()).toEqual(urls);
    expect((await readdir(dirname(profilePath(term)))).sort()).toEqual([
      'profile.json',
      'profile.lock',
    ]);
  });

  test('keeps the keys of several processes after a writer has been killed', async () => {
    using folder = temporaryFolder();
    const path = profilePath(ioAt(folder.path));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(join(dirname(path), 'profile.lock'), '');
    writeFileSync(`${path}.new`, '{"keys":');
    const urls = Array.from({ length: 6 }, (_, port) => `http://127.0.0.1:${8000 + port}`);
    const codes = urls.map((one) => {
      const env = { HOME: folder.path, MEMORY_API_KEY: 'mk_0123456789abcdef' };
      return Bun.spawn([...program, 'profile', 'set', one], { env, stderr: 'ignore' }).exited;
    });
    expect(await Promise.all(codes)).toEqual(urls.map(() => 0));
    expect(Object.keys(readProfile(ioAt(folder.path)).keys).sort()).toEqual(urls);
  });

  test('recognizes the local machine under all its names', () => {
    for (const host of ['localhost', '0.0.0.0', '[::1]', '[::]', '127.0.0.1']) {
      expect(serviceName(`http://${host}:7070/`)).toBe(url);
    }
    expect(serviceName('https://Memory.example/api/')).toBe('https://memory.example/api');
  });

  test('with invalid contents causes an error that names the file', async () => {
    for (const text of ['{', '[1', '{"keys":{"x":1}}', 'null', '[]', '"text"', '7']) {
      using folder = temporaryFolder();
      const term = ioAt(folder.path);
      mkdirSync(dirname(profilePath(term)), { recursive: true });
      writeFileSync(profilePath(term), text);
      const { code, stderr } = await memory(['get', 'mem_1'], { home: folder.path });
      expect(stderr).toContain(profilePath(term));
      expect(code).toBe(1);
    }
  });

  test('provides the key of a command', async () => {
    using folder = temporaryFolder();
    const server = await startTestServer();
    await storeFirstRunKey(ioAt(folder.path), server.url, server.key);
    const around = { home: folder.path, env: { MEMORY_BASE_URL: server.url } };
    expect((await memory(['save', '--user', 'u', 'text'], around)).code).toBe(0);
    await server.stop();
  });

  test('that cannot be read is reported with the reason, but without its contents', async () => {
    using unreadable = temporaryFolder();
    mkdirSync(profilePath(ioAt(unreadable.path)), { recursive: true });
    const read = await memory(['get', 'mem_1'], { home: unreadable.path });
    expect(read.stderr).toContain(': EISDIR');
    using invalid = temporaryFolder();
    await Bun.write(profilePath(ioAt(invalid.path)), 'mk_0199c2a4f1e87c3d');
    const parsed = await memory(['get', 'mem_1'], { home: invalid.path });
    expect(parsed.stderr).toContain(': its contents are not a valid profile.\n');
    expect(parsed.stderr).not.toContain('mk_');
  });
});

describe('memory profile', () => {
  const own = 'mk_abcdefghijklmnopqrstuvwxyz0123456789ABCD';

  test('show prints each value and its source, and no key', async () => {
    using folder = temporaryFolder();
    await storeFirstRunKey(ioAt(folder.path), url, own);
    const { code, stdout } = await memory(['profile', 'show'], { home: folder.path });
    const path = `${folder.path}/.config/memory-service/profile.json`;
    expect(stdout).toBe(
      `baseUrl\t${url}\tdefault\napiKey\tmk_abcd…ABCD\tprofile\n` +
        `project\tdefault\tprofile\nprofile\t${path}\tdefault\n`,
    );
    expect(code).toBe(0);
    const env = { MEMORY_BASE_URL: 'http://x:1', MEMORY_API_KEY: ` ${'z'.repeat(30)} ` };
    const argv = ['profile', 'show', '--json', '--base-url', 'http://y:2/'];
    const json = await memory(argv, { home: folder.path, env });
    expect(JSON.parse(json.stdout)).toEqual({
      baseUrl: { value: 'http://y:2', from: 'flag' },
      apiKey: { value: '…zzzz', from: 'environment' },
      project: { value: null, from: null },
      profile: { value: path, from: 'default' },
    });
  });

  test('show without any key', async () => {
    const { code, stdout } = await memory(['profile', 'show', '--json']);
    expect(JSON.parse(stdout).apiKey).toEqual({ value: null, from: null });
    expect(code).toBe(0);
    const shown = await memory(['profile', 'show'], { terminal: 80 });
    expect(shown.stdout).toContain('none');
  });

  test('show names the environment as the source of a path that a variable sets', async () => {
    using folder = temporaryFolder();
    const env = { XDG_CONFIG_HOME: folder.path };
    const { stdout } = await memory(['profile', 'show', '--json'], { env });
    const value = `${folder.path}/memory-service/profile.json`;
    expect(JSON.parse(stdout).profile).toEqual({ value, from: 'environment' });
  });

  test('path prints the path', async () => {
    const { stdout } = await memory(['profile', 'path'], { home: '/her' });
    expect(stdout).toBe('/her/.config/memory-service/profile.json\n');
  });

  test('show prints the end of a key only if the key has at least 16 characters', async () => {
    const shown = async (key: string) => {
      const env = { MEMORY_API_KEY: key };
      const { stdout } = await memory(['profile', 'show', '--json'], { env });
      return JSON.parse(stdout).apiKey.value;
    };
    expect(await shown('z'.repeat(15))).toBe('…');
    expect(await shown('z'.repeat(16))).toBe('…zzzz');
  });
});

describe('a rejected key', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  test('is reported with its source, and without advice on headers', async () => {
    using folder = temporaryFolder();
    const base = { MEMORY_BASE_URL: server.url };
    const refused = 'mk_not-a-key-of-this-server';
    await storeFirstRunKey(ioAt(folder.path), server.url, refused);
    const argv = ['list', '--user', 'u'];
    const home = folder.path;
    const rejected = [
      [await memory([...argv, '--api-key', refused], { home, env: base }), '--api-key'],
      [await memory(argv, { home, env: { ...base, MEMORY_API_KEY: refused } }), 'MEMORY_API_KEY'],
      [await memory(argv, { home, env: base }), 'the key in ~/.config/memory-service/profile.json'],
    ] as const;
    for (const [{ code, stderr }, from] of rejected) {
      expect(stderr).toContain(from);
      expect(stderr).toContain('unknown, expired or revoked');
      expect(stderr).toContain('memory keys create --save');
      expect(stderr).not.toContain('Bearer');
      expect(stderr).not.toContain(refused);
      expect(code).toBe(4);
    }
  });

  test('spaces around a key are ignored', async () => {
    const env = { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: ` ${server.key}\n` };
    expect((await memory(['list', '--user', 'u'], { env })).code).toBe(0);
  });
});
