import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { startChild } from '../support/process.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Placed, placeService, runInstallScript } from './place.ts';
import { emptyProject, type Project } from './project.ts';

/* The packed service and command line, as far as they can be tried without a registry. */

let project: Project;
let server: TestServer;
let placed: Placed;
let env: Record<string, string> = {};

beforeAll(async () => {
  project = await emptyProject();
  placed = await placeService(project.folder);
  server = await startTestServer();
  const home = { HOME: project.folder, XDG_CONFIG_HOME: project.folder };
  env = { ...home, MEMORY_API_KEY: server.key, MEMORY_BASE_URL: server.url };
});
afterAll(async () => {
  await server.stop();
  await project[Symbol.asyncDispose]();
});

test('the command line is one file with its bytecode, and holds nothing of the server', async () => {
  const text = await Bun.file(join(placed.folder, 'cli/main.js')).text();
  expect(text).toContain('@bytecode');
  expect(Bun.file(join(placed.folder, 'cli/main.js.jsc')).size).toBeGreaterThan(100_000);
  expect(text).not.toMatch(/typebox|elysia|bun:sqlite/i);
  const { dependencies } = await Bun.file(join(placed.folder, 'package.json')).json();
  expect(Object.keys(dependencies).sort()).toEqual(['@sinclair/typebox', 'bun', 'elysia']);
});

async function saveAndList(command: string[], userId: string, more: Record<string, string> = {}) {
  const run = (...args: string[]) =>
    project.run([...command, ...args, '--user', userId], { ...env, ...more });
  const id = await run('save', "It's «done»");
  const list = await run('list');
  expect(list.split('\t')).toEqual([id, 'memory', 'complete', expect.any(String), "It's «done»"]);
}

describe('the command', () => {
  test('works before its script has run, by Node', () => saveAndList([placed.memory], 'before'));

  test('works after it, by the shell, with no Node to be found', async () => {
    await runInstallScript(placed);
    const tools = project.file('tools');
    await mkdir(tools);
    await symlink(Bun.which('readlink') ?? '', join(tools, 'readlink'));
    await saveAndList([placed.memory], 'after', { PATH: tools });
  });

  test('works by Node all the same, for whoever calls it so', () =>
    saveAndList(['node', join(placed.folder, 'memory.mjs')], 'by-node'));

  test('is also called memory-service, which is the service where it has no arguments', async () => {
    const program = join(placed.folder, 'memory-service.mjs');
    await saveAndList(['node', program], 'as-package');
    const MEMORY_DATABASE_URL = `sqlite:${project.file('as-package.db')}`;
    const service = startChild(['node', program], { ...env, MEMORY_DATABASE_URL, PORT: '0' });
    service.ready.catch(() => {});
    // It says so on standard error.
    service.ready.catch(() => {});
    await until(() => service.log().includes('is running at') || !service.running());
    expect(await service.end('SIGTERM')).toBe(0);
  });

  test('takes nothing from the folder it is called in, by the shell or by Node', async () => {
    const strange = {
      '.env': 'MEMORY_BASE_URL=http://x',
      'bunfig.toml': 'preload = ["./none.ts"]',
    };
    for (const [name, text] of Object.entries(strange)) await project.write(name, text);
    const { MEMORY_BASE_URL: _, ...others } = env;
    for (const command of [[placed.memory], ['node', join(placed.folder, 'memory.mjs')]]) {
      const shown = await project.run([...command, 'profile', 'show', '--json'], others);
      expect(JSON.parse(shown).baseUrl).toMatchObject({ from: 'default' });
    }
    for (const name of Object.keys(strange)) await Bun.file(project.file(name)).delete();
  });

  test('works by another name, and says what a failure ends with', async () => {
    const other = project.file('with a space');
    await symlink(placed.memory, other);
    await saveAndList([other], 'other');
    await expect(project.run([other, 'get', 'mem_none'], env)).rejects.toThrow('ended with 3');
  });
});

test('what is loaded when it is needed is there: the contract, the server, its admin', async () => {
  await project.write('bad.jsonl', '{ "type": "ticket" }\n');
  const checked = project.run([placed.memory, 'ingest', 'batch', 'bad.jsonl', '--dry-run'], env);
  await expect(checked).rejects.toThrow('line 1: userId: is required');
  const database = `sqlite:${project.file('memory.db')}`;
  const serve = ['serve', '--port', '0', '--database', database];
  const child = startChild([placed.memory, ...serve], { ...env, MEMORY_API_KEY: '' });
  await until(() => child.log().includes('Stop with Ctrl-C'), { what: 'the banner' });
  expect(await child.end('SIGTERM')).toBe(0);
  expect(await project.run([placed.memory, 'doctor', '--database', database], env)).toContain('ok');
});
