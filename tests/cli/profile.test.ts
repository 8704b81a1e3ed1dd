import { describe, expect, test } from 'bun:test';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { profileKeyOf, profilePath, readProfile, storeFirstRunKey } from '../../cli/profile.ts';
import { startTestServer } from '../support/server.ts';
import { memory, temporaryFolder, testIo } from './command.ts';

const url = 'http://127.0.0.1:7070';

function ioAt(home: string) {
  return testIo({ code: 0, stdout: '', stderr: '' }, { home });
}

describe('the profile', () => {
  test('is where the system keeps such files', () => {
    const at = (env: Record<string, string>, platform = 'linux') =>
      profilePath({ env, home: '/her', platform });
    expect(at({})).toBe('/her/.config/memory-service/profile.json');
    expect(at({ XDG_CONFIG_HOME: '/x' })).toBe('/x/memory-service/profile.json');
    expect(at({ APPDATA: '/a' }, 'win32')).toBe('/a/memory-service/profile.json');
  });

  test('keeps a first-run key, readable by its user alone, and replaces it by the next', async () => {
    using folder = temporaryFolder();
    const io = ioAt(folder.path);
    expect(await storeFirstRunKey(io, url, 'mk_1')).toBe(true);
    expect(await storeFirstRunKey(io, `${url}/`, 'mk_2')).toBe(true);
    expect(await readProfile(io)).toEqual({ keys: { [url]: { apiKey: 'mk_2', firstRun: true } } });
    expect(statSync(profilePath(io)).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(profilePath(io)))).toEqual(['profile.json']);
  });

  test('never gives up a key that the user put there', async () => {
    using folder = temporaryFolder();
    const io = ioAt(folder.path);
    const own = { keys: { [url]: { apiKey: 'mine' } }, later: true };
    mkdirSync(dirname(profilePath(io)), { recursive: true });
    writeFileSync(profilePath(io), JSON.stringify(own));
    expect(await storeFirstRunKey(io, url, 'mk_1')).toBe(false);
    expect(await storeFirstRunKey(io, 'http://127.0.0.1:8080', 'mk_2')).toBe(true);
    expect<unknown>(await readProfile(io)).toEqual({
      keys: { ...own.keys, 'http://127.0.0.1:8080': { apiKey: 'mk_2', firstRun: true } },
      later: true,
    });
  });

  test('knows one machine under its names', () => {
    for (const host of ['localhost', '0.0.0.0', '[::1]', '[::]', '127.0.0.1']) {
      expect(profileKeyOf(`http://${host}:7070/`)).toBe(url);
    }
    expect(profileKeyOf('https://Memory.example/api/')).toBe('https://memory.example/api');
  });

  test('that is not one is an error that names the file', async () => {
    for (const text of ['{', '[1', '{"keys":{"x":1}}', 'null']) {
      using folder = temporaryFolder();
      const io = ioAt(folder.path);
      mkdirSync(dirname(profilePath(io)), { recursive: true });
      writeFileSync(profilePath(io), text);
      const { code, stderr } = await memory(['get', 'mem_1'], { home: folder.path });
      expect(stderr).toContain(profilePath(io));
      expect(code).toBe(1);
    }
  });

  test('gives a command its key', async () => {
    using folder = temporaryFolder();
    const server = await startTestServer();
    await storeFirstRunKey(ioAt(folder.path), server.url, server.key);
    const around = { home: folder.path, env: { MEMORY_BASE_URL: server.url } };
    expect((await memory(['save', '--user', 'u', 'text'], around)).code).toBe(0);
    await server.stop();
  });
});
