import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { startTestServer, type TestServer } from '../support/server.ts';
import { memoryAt } from './command.ts';
import { type Client, homeOf } from './mcp-home.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
const home = () => homeOf(server);

const command = '/opt/memory';
const args = ['mcp', '--user', 'ada'];

describe("the entry is in the client's settings file", () => {
  test.each([
    ['claude-code', { mcpServers: { memory: { type: 'stdio', command, args } } }],
    ['cursor', { mcpServers: { memory: { command, args } } }],
    ['vscode', { servers: { memory: { type: 'stdio', command, args } } }],
    ['codex', { mcp_servers: { memory: { command, args } } }],
    ['claude-desktop', { mcpServers: { memory: { command, args } } }],
  ] as const)('%s', async (client, expected) => {
    using place = home();
    const { code, stdout, stderr } = await place.install(client, ['--yes']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Written to') });
    const text = place.read(client);
    expect(client === 'codex' ? Bun.TOML.parse(text) : JSON.parse(text)).toEqual(expected);
    expect(stdout).toBe(text);
    expect(text).not.toContain(server.key);
    expect(statSync(place.path(client)).mode & 0o777).toBe(0o600);
    const again = await place.install(client, ['--yes']);
    expect(again).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('is already up to date'),
    });
  });

  test("on macOS, and if the client's environment variables change its path", async () => {
    const { openSettings } = await import('../../cli/mcp-clients/clients.ts');
    const { testTerminal } = await import('./command.ts');
    const term = testTerminal({ code: 0, stdout: '', stderr: '' }, { home: '/nowhere' });
    const fileOf = async (client: Client, more: object) =>
      (await openSettings({ ...term, ...more }, client, { command, args })).file;
    const support = '/nowhere/Library/Application Support';
    expect(await fileOf('vscode', { platform: 'darwin' })).toBe(
      join(support, 'Code/User/mcp.json'),
    );
    const desktop = await fileOf('claude-desktop', { platform: 'darwin' });
    expect(desktop).toBe(join(support, 'Claude/claude_desktop_config.json'));
    expect(await fileOf('codex', { env: { CODEX_HOME: '/c' } })).toBe('/c/config.toml');
    const code = await fileOf('claude-code', { env: { CLAUDE_CONFIG_DIR: '/d' } });
    expect(code).toBe('/d/.claude.json');
  });
});

describe('the other contents of the settings file are kept', () => {
  test('JSON with comments, and its layout', async () => {
    using place = home();
    const before = `{
    // Mine.
    "servers": {
        "other": { "command": "x", "args": [1e400] }, // last
    },
    "inputs": []
}
`;
    place.put('vscode', before);
    await place.install('vscode', ['--yes']);
    const after = place.read('vscode');
    const [comma, end] = ['[1e400] }', ', // last'];
    const own = after.slice(after.indexOf(comma) + comma.length, after.indexOf(end));
    expect(after.replace(own, '')).toBe(before);
    expect(own).toStartWith(',\n        "memory": {\n            "type": "stdio",\n');
  });

  test('fields that the user added to our entry', async () => {
    using place = home();
    const own = { command: 'old', args: [], disabled: true, env: { A: 'b' } };
    place.put('cursor', JSON.stringify({ mcpServers: { memory: own }, more: 1 }));
    const { stderr } = await place.install('cursor', ['--yes', '--read-only']);
    expect(stderr).toContain('Written to');
    expect(JSON.parse(place.read('cursor'))).toEqual({
      mcpServers: {
        memory: { ...own, command, args: [...args, '--read-only'] },
      },
      more: 1,
    });
  });

  test('TOML, with comments, before and after our section', async () => {
    using place = home();
    const head = '# Mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n';
    const tail = '\n# Theirs\n[profiles.fast]\nmodel = "z"\n';
    const own = '\n[mcp_servers.memory]\n# why\ncommand = "old"\ntimeout = 9\n';
    place.put('codex', head + own + tail);
    await place.install('codex', ['--yes']);
    const text = place.read('codex');
    expect(text).toStartWith(head);
    expect(text).toEndWith(tail);
    expect(text).toContain('# why');
    expect(Bun.TOML.parse(text)).toMatchObject({
      mcp_servers: { memory: { command, args, timeout: 9 }, other: { command: 'y' } },
    });
  });

  test('TOML without our section, to which the section is appended', async () => {
    using place = home();
    const before = 'model = "x"\n\n[profiles.fast]\nmodel = "z"\n';
    place.put('codex', before);
    const { code, stdout } = await place.install('codex', ['--yes']);
    expect({ code, text: place.read('codex') }).toEqual({ code: 0, text: `${before}\n${stdout}` });
  });

  test('a symbolic link stays a link, and the file mode is kept', async () => {
    using place = home();
    const target = place.file('dotfiles.json');
    writeFileSync(target, '{}');
    chmodSync(target, 0o640);
    mkdirSync(dirname(place.path('cursor')));
    symlinkSync(target, place.path('cursor'));
    await place.install('cursor', ['--yes']);
    expect(readFileSync(target, 'utf8')).toContain('mcpServers');
    expect(statSync(target).mode & 0o777).toBe(0o640);
  });

  test.each([
    ['cursor', '{ "mcpServers": ', 'is not valid JSON: value expected at line 1, column 17'],
    ['cursor', '{\n  "a": 1\n  "b": 2\n}', 'is not valid JSON: comma expected at line 3, column 3'],
    ['cursor', '[]', 'without other changes'],
    ['cursor', '{ "mcpServers": [] }', 'without other changes'],
    ['codex', 'model = ', 'is not valid TOML'],
    ['codex', 'mcp_servers = { memory = { command = "x" } }', 'without other changes'],
    ['codex', '[mcp_servers."memory"]\ncommand = "x"\n', 'without other changes'],
  ] as const)('%s: %s is not touched', async (client, text, why) => {
    using place = home();
    place.put(client, text);
    const { code, stdout, stderr } = await place.install(client, ['--yes']);
    expect({ code, text: place.read(client) }).toEqual({ code: 1, text });
    expect(stderr).toContain(`${place.path(client)} ${why}`);
    expect(stderr).toContain('by hand');
    expect(stdout).toContain(command);
  });
});

describe("the key in the client's settings", () => {
  test('is not written unless requested', async () => {
    using place = home();
    const env = { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key };
    const { stderr } = await place.install('cursor', ['--yes'], { env });
    expect(stderr).toContain('Written');
    expect(place.read('cursor')).not.toContain(server.key);
    // The MCP client may start the command without MEMORY_BASE_URL, so the entry contains the URL.
    expect(place.read('cursor')).toContain(server.url);
  });

  test('must be in the profile if --with-key is not given', async () => {
    using place = home();
    const env = { XDG_CONFIG_HOME: place.file('empty'), MEMORY_BASE_URL: server.url };
    const own = { ...env, MEMORY_API_KEY: server.key };
    const { code, stderr } = await place.install('cursor', ['--yes'], { env: own });
    expect(code).toBe(4);
    expect(stderr).toContain('memory profile set');
    expect(stderr).toContain('--with-key');
    expect(existsSync(place.path('cursor'))).toBe(false);
  });

  test('must equal the key in the profile, because the permissions may differ', async () => {
    using place = home();
    const env = { MEMORY_API_KEY: await server.createKey('default', { readOnly: true }) };
    const { code, stderr } = await place.install('cursor', ['--yes'], { env });
    expect(code).toBe(4);
    expect(stderr).toContain('The profile has a different key for this service');
    expect(existsSync(place.path('cursor'))).toBe(false);
  });

  test('is written with --with-key, and masked in the output', async () => {
    using place = home();
    const { stdout, stderr } = await place.install('codex', ['--yes', '--with-key']);
    expect(stderr).toContain('including the API key');
    expect(stdout + stderr).not.toContain(server.key);
    expect(Bun.TOML.parse(place.read('codex'))).toEqual({
      mcp_servers: { memory: { command, args, env: { MEMORY_API_KEY: server.key } } },
    });
  });

  test('is the key of the project in --project, and the args include --project', async () => {
    using place = home();
    const keys = {
      [server.url]: { apiKey: server.key },
      [`${server.url}#shop`]: { apiKey: await server.createKey('shop') },
    };
    const profile = JSON.stringify({ baseUrl: server.url, keys });
    writeFileSync(place.file('.config/memory-service/profile.json'), profile);
    await place.install('cursor', ['--yes', '--project', 'shop']);
    const { memory } = JSON.parse(place.read('cursor')).mcpServers;
    expect(memory.args).toEqual([...args, '--project', 'shop']);
  });

  test('may differ from the key in the profile with --with-key', async () => {
    using place = home();
    const key = await server.createKey('default', { userId: 'ada' });
    const env = { MEMORY_API_KEY: key };
    expect((await place.install('cursor', ['--yes', '--with-key'], { env })).code).toBe(0);
    expect(place.read('cursor')).toContain(key);
  });
});

describe('a usage error names the missing argument and an example', () => {
  test('the client', async () => {
    const { code, stderr } = await memoryAt(server)(['mcp', 'install']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('claude-code') });
    expect(stderr).not.toContain('--with-key');
  });

  test('the user', async () => {
    const { code, stderr } = await memoryAt(server)(['mcp', 'install', 'cursor', '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain('For example: memory mcp install cursor --user u-1\n');
  });
});

describe('the prompt of memory mcp install', () => {
  test('accepts yes and writes', async () => {
    using place = home();
    const { stderr } = await place.install('cursor', [], { typed: 'y\n', terminal: 80 });
    expect(stderr).toContain('Write this to ~/.cursor/mcp.json? [y/N]');
    expect(JSON.parse(place.read('cursor'))).toHaveProperty('mcpServers.memory');
  });

  test('writes nothing on any other answer', async () => {
    using place = home();
    const { code, stderr } = await place.install('cursor', [], { typed: '\n', terminal: 80 });
    expect(stderr).toEndWith('Nothing was written.\n');
    expect({ code, exists: existsSync(place.path('cursor')) }).toEqual({ code: 1, exists: false });
  });

  test('requires --yes without a terminal', async () => {
    using place = home();
    const { code, stderr } = await place.install('cursor');
    expect({ code, exists: existsSync(place.path('cursor')) }).toEqual({ code: 2, exists: false });
    expect(stderr).toContain('memory mcp install cursor --user ada --yes\n');
    const more = await place.install('cursor', ['--read-only', '--with-key']);
    expect(more.stderr).toContain('cursor --user ada --read-only --with-key --yes\n');
  });

  test('is not shown with --json, which requires --yes', async () => {
    using place = home();
    const file = place.path('cursor');
    const { stdout } = await place.install('cursor', ['--yes', '--json']);
    expect(JSON.parse(stdout)).toEqual({ client: 'cursor', file, change: 'added' });
    expect((await place.install('cursor', ['--read-only', '--json'])).code).toBe(2);
  });
});
