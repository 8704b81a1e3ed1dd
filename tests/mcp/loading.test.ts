import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../cli/shell.ts';
import { temporaryFolder } from '../support/folder.ts';
import { noHome } from '../support/process.ts';

/* The MCP library must load on demand, because loading it takes longer than most commands. */

const preload = join(import.meta.dir, 'log-loaded.ts');

function run(command: string[], env: Record<string, string> = {}) {
  return Bun.spawnSync(command, { env: { ...process.env, ...noHome, ...env } });
}

test('the server loads the MCP library on the first message, outside the HTTP thread', () => {
  using folder = temporaryFolder();
  const script = join(import.meta.dir, 'loaded.ts');
  const { stdout } = run([process.execPath, script], { LOADED_LOG: folder.file('log') });
  const [before, after] = stdout.toString().trim().split('\n');
  expect(before).toBe('0 0');
  expect(after).toMatch(/^0 [1-9]/);
});

test.each([
  ['help', false],
  ['mcp --help', false],
  ['list --user u', false],
  ['mcp --user u', true],
])('memory %s loads the MCP library: %p', (line, loads) => {
  using folder = temporaryFolder();
  const [bun = '', main = ''] = program;
  const log = folder.file('log');
  const away = { MEMORY_BASE_URL: 'http://127.0.0.1:1', MEMORY_API_KEY: 'sixteen-characters' };
  run([bun, '--preload', preload, main, ...line.split(' ')], { ...away, LOADED_LOG: log });
  expect(existsSync(log)).toBe(loads);
});
