import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { startServing } from '../support/process.ts';
import { until } from '../support/until.ts';
import { greet, listTools } from './mcp.ts';
import { checkPages } from './pages.ts';
import { amongStrangers, emptyProject, type Project } from './project.ts';

/* Tests the packed service and CLI in two forms: installed with npm, and as an executable. */

export async function byNpm(service: string, ...flags: string[]): Promise<string> {
  await using project = await emptyProject();
  await project.install(service, ...flags);
  const memory = [project.file('node_modules/.bin/memory')];
  const result = await tryOut(project, ['npx', 'memory'], memory);
  const launcher = await Bun.file(project.file('node_modules/memory-service/memory.mjs')).text();
  const way = launcher.startsWith('#!/bin/sh') ? 'by the shell' : 'by Node';
  return `${result} by npx, in ${await startMs(project, memory)} ms ${way}`;
}

export async function globally(service: string): Promise<string> {
  await using project = await emptyProject();
  await project.install(service, '--global', '--prefix', project.folder);
  return await tryOut(project, [project.file('bin/memory')]);
}

export async function asOneFile(executable: string): Promise<string> {
  await using project = await emptyProject();
  // The executable must run without any other files.
  await cp(executable, project.file('memory'));
  return await tryOut(project, [project.file('memory')]);
}

async function tryOut(project: Project, memory: string[], serving = memory): Promise<string> {
  const { version } = await Bun.file(join(import.meta.dir, '../../package.json')).json();
  const printed = await project.run([...memory, '--version']);
  if (printed !== version) throw new Error(`--version printed ${printed}, expected ${version}`);
  await amongStrangers(project, memory);
  await using server = await serve(project, serving, firstRun);
  const env = { ...server.env, MEMORY_BASE_URL: server.url };
  const id = await project.run([...memory, 'save', '--user', 'u', 'Hello'], env);
  const list = await project.run([...memory, 'list', '--user', 'u'], env);
  if (!list.startsWith(id)) throw new Error(`the list does not begin with ${id}: ${list}`);
  await checkPages(server.url);
  const meant = await project.run([...memory, 'save', '--user', 'u', 'Allergic to peanuts'], env);
  const search = ['search', '--user', 'u', '--mode', 'meaning', 'what food should I avoid?'];
  const isFound = async () => (await project.run([...memory, ...search], env)).startsWith(meant);
  await until(isFound, { what: 'a memory to be found by its meaning' });
  const code = await server.end();
  if (code !== 0) throw new Error(`the server exited with status ${code}: ${server.log()}`);
  // Elysia reads the source of hooks and handlers, which is minified in an executable.
  if (server.log().includes('Sucrose')) throw new Error(`Elysia warns: ${server.log()}`);
  const did = 'serve, save, list, front page, search by meaning, stop';
  return `${version}: ${did}; starts in ${await startMs(project, memory)} ms`;
}

async function startMs(project: Project, memory: string[]): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const begin = performance.now();
    await project.run([...memory, '--version']);
    times.push(performance.now() - begin);
  }
  return (times.sort((a, b) => a - b)[4] ?? 0).toFixed(0);
}

/** Begins the last line that a server prints at its first start, after it has stored a key. */
const firstRun = ' search --user';

async function serve(project: Project, memory: string[], ready?: string) {
  const env = { XDG_CONFIG_HOME: project.folder, HOME: project.folder, MEMORY_API_KEY: '' };
  const server = await startServing(memory, project.file('memory.db'), env, ready);
  const end = () => server.end('SIGTERM');
  return { ...server, env, end, [Symbol.asyncDispose]: async () => void (await end()) };
}

/** Tests the threads that check a large file for damage and scrub deleted data. */
export async function withThreads(executable: string): Promise<string> {
  await using project = await emptyProject();
  const memory = [executable];
  await using server = await serve(project, memory, firstRun);
  const env = { ...server.env, MEMORY_BASE_URL: server.url };
  await project.run([...memory, 'save', '--user', 'gone', 'Secret'], env);
  await project.run([...memory, 'delete', '--user', 'gone', '--yes'], env);
  const scrubbed = () => project.run([process.execPath, '--eval', countDue]).then((n) => n === '0');
  await until(scrubbed, { what: 'the scrub after an erasure', timeoutMs: 20_000 });
  await server.end();
  await project.run([process.execPath, '--eval', damage]);
  await using damaged = await serve(project, memory);
  await until(() => damaged.log().includes('the database is damaged'), { what: 'the damage' });
  return 'erased data is scrubbed, and damage to a large file is found';
}

const countDue = `const { Database } = require('bun:sqlite');
console.log(new Database('memory.db').query("SELECT count(*) AS n FROM maintenance WHERE name = 'scrub'").get().n);`;

/** Makes the file too large for the check at startup, and damages some of its pages. */
const damage = `const { Database } = require('bun:sqlite');
const { openSync, writeSync, fstatSync } = require('node:fs');
const db = new Database('memory.db');
db.run('CREATE TABLE pad (text TEXT)');
const insert = db.prepare('INSERT INTO pad VALUES (?)');
db.transaction(() => { for (let n = 0; n < 40000; n++) insert.run('x'.repeat(2500)); })();
db.run('PRAGMA wal_checkpoint(TRUNCATE)');
db.close();
const file = openSync('memory.db', 'r+');
const pages = fstatSync(file).size / 4096;
for (let page = 300; page < pages; page += 97) writeSync(file, Buffer.alloc(4096, 255), 0, 4096, page * 4096);`;

/** Tests that the MCP library loads: on demand in the CLI, and in a thread of the server. */
export async function withMcp(executable: string): Promise<string> {
  await using project = await emptyProject();
  await using server = await serve(project, [executable], firstRun);
  const env = { ...server.env, MEMORY_BASE_URL: server.url };
  const begin = performance.now();
  await greet([executable, 'mcp', '--user', 'u'], env);
  const tookMs = performance.now() - begin;
  const database = `sqlite:${project.file('memory.db')}`;
  const create = ['keys', 'create', '--user', 'u', '--database', database];
  const key = await project.run([executable, ...create], env);
  await listTools(`${server.url}/mcp`, key);
  return `over stdio in ${tookMs.toFixed(0)} ms, over HTTP`;
}
