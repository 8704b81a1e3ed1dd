import { expect, test } from 'bun:test';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { installationOf } from '../../cli/commands/mcp-clients.ts';
import { json, startFaultServer } from '../support/fault-server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { expectRan, type Surroundings, testTerminal, withMemory } from './command.ts';

/* What transcripts/mcp.txt cannot show: other programs, links, systems and answers. */

const { server, memory } = await withMemory();

/** Creates a home directory whose profile contains the server's key. */
async function homeOf() {
  const folder = temporaryFolder();
  const profile = { baseUrl: server.url, keys: { [server.url]: { apiKey: server.key } } };
  await Bun.write(folder.file('.config/memory-service/profile.json'), JSON.stringify(profile));
  const install = (client: string, more: string[], around: Surroundings = {}) =>
    memory(['mcp', 'install', client, '--user', 'ada', ...more], {
      home: folder.path,
      ...around,
      env: { MEMORY_BASE_URL: '', MEMORY_API_KEY: '', PATH: `${folder.path}:/bin`, ...around.env },
    });
  /** Writes a program for the shell to the PATH. */
  const write = (name: string, text: string) =>
    writeFileSync(folder.file(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return { ...folder, install, write };
}

test.each([
  ['claude-code', 'claude', ['mcp remove --scope user memory', 'mcp add --scope user memory -- ']],
  ['codex', 'codex', ['mcp add memory -- ']],
])('%s is set up by its own command', async (client, program, calls) => {
  using home = await homeOf();
  home.write(program, `echo "$@" >> ${home.file('calls')}; [ "$2" = add ]`);
  expectRan(await home.install(client, ['--read-only', '--yes']), 0, /^Done\. Restart /);
  const lines = (await Bun.file(home.file('calls')).text()).trim().split('\n');
  const entry = '/opt/memory mcp --user ada --read-only';
  expect(lines).toEqual(calls.map((call) => call.replace(/-- $/, `-- ${entry}`)));
});

const removed = 'The previous entry was removed, but ';
test.each([
  ['codex', 'codex', 'none', ''],
  ['claude-code', 'claude', 'none', ''],
  ['claude-code', 'claude', 'remove', removed],
])('a failure of %s says if the previous entry is removed (%s: %s)', async (...one) => {
  using home = await homeOf();
  const [client, program, succeeds, before] = one;
  home.write(program, `[ "$2" = ${succeeds} ] || { echo no >&2; exit 3; }`);
  const ran = await home.install(client, ['--yes']);
  expectRan(ran, 1, `Error: ${before}${program} failed: no\n`);
});

test('a symbolic link to a blank file stays a link, and the file mode is kept', async () => {
  using home = await homeOf();
  mkdirSync(home.file('.cursor'));
  writeFileSync(home.file('real.json'), '\n');
  chmodSync(home.file('real.json'), 0o640);
  symlinkSync(home.file('real.json'), home.file('.cursor/mcp.json'));
  expect((await home.install('cursor', ['--yes'])).code).toBe(0);
  expect(lstatSync(home.file('.cursor/mcp.json')).isSymbolicLink()).toBe(true);
  expect(statSync(home.file('real.json')).mode & 0o777).toBe(0o640);
  expect(await Bun.file(home.file('real.json')).json()).toEqual({
    mcpServers: { memory: { command: '/opt/memory', args: ['mcp', '--user', 'ada'] } },
  });
});

test.each([
  ['y\n', 0, 'Done. Restart Cursor'],
  ['\n', 1, 'Nothing was changed.'],
])('the answer %j to the question is obeyed', async (typed, code, said) => {
  using home = await homeOf();
  const ran = await home.install('cursor', [], { typed, terminal: 80 });
  expectRan(ran, code, 'Write this to ~/.cursor/mcp.json? [y/N] ', said);
  expect(await Bun.file(home.file('.cursor/mcp.json')).exists()).toBe(code === 0);
});

test('a key that is not the one in the profile is refused', async () => {
  using home = await homeOf();
  const env = { MEMORY_API_KEY: await server.createKey('other') };
  const ran = await home.install('cursor', ['--yes'], { env });
  expectRan(ran, 4, 'Error: The key is not in the profile');
});

test('a settings file that is read-only or a folder is not replaced', async () => {
  using home = await homeOf();
  mkdirSync(home.file('.cursor'));
  writeFileSync(home.file('.cursor/mcp.json'), '{}', { mode: 0o400 });
  expectRan(await home.install('cursor', ['--yes']), 1, 'cannot be changed: it is read-only.');
  expect(await Bun.file(home.file('.cursor/mcp.json')).text()).toBe('{}');
  rmSync(home.file('.cursor/mcp.json'));
  mkdirSync(home.file('.cursor/mcp.json'));
  expectRan(await home.install('cursor', ['--yes']), 1, 'Add the entry shown above by hand.');
});

test('the settings of applications on macOS are in the Library', () => {
  const term = testTerminal({ home: '/ada' });
  const entry = { command: 'memory', args: [] };
  const { effect } = installationOf({ ...term, platform: 'darwin' }, 'claude-desktop', entry);
  const folder = '~/Library/Application Support/Claude';
  expect(effect).toBe(`Write this to ${folder}/claude_desktop_config.json`);
});

test('a service that takes three seconds to respond is not called unreachable', async () => {
  using home = await homeOf();
  const key = { project: 'default', name: 'k', userId: null, readOnly: false, expiresAt: null };
  const reply = json(200, key);
  using slow = startFaultServer((socket) => setTimeout(() => reply(socket), 3_000));
  const profile = { baseUrl: slow.url, keys: { [slow.url]: { apiKey: server.key } } };
  await Bun.write(home.file('.config/memory-service/profile.json'), JSON.stringify(profile));
  expectRan(await home.install('cursor', ['--yes']), 0, /^Done\. Restart /);
  expect(slow.requests).toHaveLength(1);
});
