import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startTestServer, type TestServer } from '../support/server.ts';
import { homeOf } from './mcp-home.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
const home = () => homeOf(server);
const tomlOf = (memory: object) => Bun.TOML.stringify({ mcp_servers: { memory } });

describe('an existing settings file', () => {
  test.each([
    ['a broken link', (file: string) => symlinkSync('nowhere', file), 'is a broken symbolic link'],
    ['a pipe', (file: string) => execFileSync('mkfifo', [file]), 'is not a file'],
    [
      'a read-only file',
      (file: string) => writeFileSync(file, '{}', { mode: 0o400 }),
      'is read-only',
    ],
  ])('that is %s is not replaced', async (_, create, why) => {
    using place = home();
    const file = place.path('cursor');
    mkdirSync(dirname(file));
    create(file);
    const before = lstatSync(file);
    const { code, stderr } = await place.install('cursor', ['--yes']);
    expect(stderr).toContain(`${file} ${why}. Nothing was written.`);
    expect(code).toBe(1);
    const { ino, mode } = lstatSync(file);
    expect({ ino, mode }).toEqual({ ino: before.ino, mode: before.mode });
  });

  test('that contains the key can be read only by its owner', async () => {
    using place = home();
    place.put('cursor', '{}');
    chmodSync(place.path('cursor'), 0o644);
    const mode = () => statSync(place.path('cursor')).mode & 0o777;
    await place.install('cursor', ['--yes', '--with-key']);
    expect(mode()).toBe(0o600);
    chmodSync(place.path('cursor'), 0o644);
    await place.install('cursor', ['--yes', '--with-key']);
    expect(mode()).toBe(0o600);
  });

  const other = { MEMORY_API_KEY: 'other', MEMORY_BASE_URL: 'https://other.example' };
  test.each([
    ['of a remote server', { url: 'https://other.example/mcp', headers: { Authorization: 'x' } }],
    ['with the address and key of another service', { command: 'old', args: [], env: other }],
  ])('that has an entry %s: nothing of it is kept', async (_, own) => {
    using place = home();
    for (const client of ['cursor', 'codex'] as const) {
      const text = { cursor: JSON.stringify({ mcpServers: { memory: own } }), codex: tomlOf(own) };
      place.put(client, text[client]);
      await place.install(client, ['--yes']);
      expect(place.read(client)).not.toMatch(/other|Authorization/);
      expect(place.read(client)).toContain('/opt/memory');
    }
  });
});
