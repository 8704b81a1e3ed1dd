import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { MemoryClient } from '../../sdk/index.ts';
import { startChild, startServing } from '../support/process.ts';
import { withServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Installed, installService, runInstallScript } from './install.ts';
import { greet, listTools } from './mcp.ts';
import { checkPages } from './pages.ts';
import { amongStrangers, emptyProject, type Project } from './project.ts';

/* Tests of the packed service and CLI that need no package registry. */

let project: Project;
const server = await withServer();
let installed: Installed;
let env: Record<string, string> = {};

beforeAll(async () => {
  project = await emptyProject();
  installed = await installService(project.folder);
  const home = { HOME: project.folder, XDG_CONFIG_HOME: project.folder };
  env = { ...home, MEMORY_API_KEY: server.key, MEMORY_BASE_URL: server.url };
});
afterAll(() => project[Symbol.asyncDispose]());

test('the CLI is one file with bytecode and contains no server code', async () => {
  const text = await Bun.file(join(installed.folder, 'cli/main.js')).text();
  expect(text).toContain('@bytecode');
  expect(Bun.file(join(installed.folder, 'cli/main.js.jsc')).size).toBeGreaterThan(100_000);
  expect(text).not.toMatch(/typebox|elysia|bun:sqlite|StdioServerTransport/i);
  const { dependencies } = await Bun.file(join(installed.folder, 'package.json')).json();
  expect(Object.keys(dependencies).sort()).toEqual([
    '@modelcontextprotocol/server',
    '@sinclair/typebox',
    'bun',
    'elysia',
    'ofetch',
  ]);
});

async function saveAndList(command: string[], userId: string, more: Record<string, string> = {}) {
  const run = (...args: string[]) =>
    project.run([...command, ...args, '--user', userId], { ...env, ...more });
  const id = await run('save', "It's «done»");
  const list = await run('list');
  expect(list.split('\t')).toEqual([id, 'memory', 'complete', expect.any(String), "It's «done»"]);
}

describe('the command', () => {
  test('runs on Node before the install script', () => saveAndList([installed.memory], 'before'));

  test('runs through the shell after the install script, without Node in PATH', async () => {
    await runInstallScript(installed);
    const tools = project.file('tools');
    await mkdir(tools);
    await symlink(Bun.which('readlink') ?? '', join(tools, 'readlink'));
    await saveAndList([installed.memory], 'after', { PATH: tools });
  });

  test('runs when Node is called explicitly', () =>
    saveAndList(['node', join(installed.folder, 'memory.mjs')], 'by-node'));

  test('is also installed as memory-service, which without arguments starts the service', async () => {
    const program = join(installed.folder, 'memory-service.mjs');
    await saveAndList(['node', program], 'as-package');
    const MEMORY_DATABASE_URL = `sqlite:${project.file('as-package.db')}`;
    const service = startChild(['node', program], { ...env, MEMORY_DATABASE_URL, PORT: '0' });
    // `ready` rejects, because the service writes nothing to stdout. The banner is on stderr.
    service.ready.catch(() => {});
    await until(() => service.log().includes('is running at') || !service.running());
    expect(service.log()).toContain('is running at');
    expect(await service.end('SIGTERM')).toBe(0);
  });

  test('ignores .env and bunfig.toml in the working directory, in the shell and on Node', async () => {
    const { MEMORY_BASE_URL: _, ...others } = env;
    for (const command of [[installed.memory], ['node', join(installed.folder, 'memory.mjs')]]) {
      await amongStrangers(project, command, others);
    }
  });

  test('runs through a symbolic link and returns the exit code of a failure', async () => {
    const other = project.file('with a space');
    await symlink(installed.memory, other);
    await saveAndList([other], 'other');
    const missing = project.run([other, 'get', 'mem_none'], env);
    await expect(missing).rejects.toThrow('exited with status 3');
  });
});

test('the package contains the dynamically imported contract, server and admin code', async () => {
  await project.write('bad.jsonl', '{ "type": "ticket" }\n');
  const checked = project.run([installed.memory, 'ingest', 'batch', 'bad.jsonl', '--dry-run'], env);
  await expect(checked).rejects.toThrow('line 1: userId: is required');
  const database = project.file('memory.db');
  const service = await startServing([installed.memory], database, { ...env, MEMORY_API_KEY: '' });
  await checkPages(service.url);
  expect(await service.end('SIGTERM')).toBe(0);
  const doctor = await project.run([installed.memory, 'doctor', '--database', database], env);
  expect(doctor).toContain('ok');
});

test("the packed CLI recognizes the server's errors", async () => {
  const run = (...args: string[]) => project.run([installed.memory, ...args], env);
  await expect(run('keys', 'list')).rejects.toThrow("Run this command in the server's folder");
  const created = await run('keys', 'create', '--database', project.file('created.db'));
  expect(created).toStartWith('mk_');
  await expect(run('doctor', '--database', 'http://x')).rejects.toThrow('exited with status 2');
});

test('the package contains the model, its licence and a notice', async () => {
  const own = { ...env, MEMORY_EMBEDDINGS: 'local' };
  const service = await startServing([installed.memory], project.file('meaning.db'), own);
  const client = new MemoryClient({ apiKey: server.key, baseUrl: service.url });
  const { id } = await client.save({ userId: 'u', content: 'Allergic to peanuts' });
  await until(async () => {
    const query = 'what food should I avoid?';
    const { items } = await client.search({ userId: 'u', query, mode: 'meaning' });
    return items[0]?.id === id;
  });
  expect(await service.end('SIGTERM')).toBe(0);
  const read = (path: string) => Bun.file(join(installed.folder, path)).text();
  expect(await read('server/embeddings/minilm/LICENSE')).toContain('Apache License');
  expect(await read('THIRD-PARTY-NOTICES.txt')).toContain('all-MiniLM-L6-v2, Apache-2.0');
});

describe('MCP', () => {
  test('works over stdio, also with the settings written for a client', async () => {
    await greet([installed.memory, 'mcp', '--user', 'u'], env);
    await project.run([installed.memory, 'profile', 'set', env.MEMORY_BASE_URL ?? ''], env);
    const install = ['mcp', 'install', 'cursor', '--user', 'u', '--yes'];
    await project.run([installed.memory, ...install], env);
    const { mcpServers } = await Bun.file(project.file('.cursor/mcp.json')).json();
    await greet([mcpServers.memory.command, ...mcpServers.memory.args], env);
  });

  test('works over HTTP', async () => {
    const own = { ...env, MEMORY_API_KEY: 'sixteen-or-more-characters' };
    const service = await startServing([installed.memory], project.file('mcp.db'), own);
    await listTools(`${service.url}/mcp/users/u`, own.MEMORY_API_KEY);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
