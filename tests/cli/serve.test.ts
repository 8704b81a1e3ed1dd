import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { startServer } from '../../server/main.ts';
import { temporaryFolder, withFolder } from '../support/folder.ts';
import { createTrigger, newDatabase } from '../support/postgres.ts';
import { freePort } from '../support/process.ts';
import { hasIpv6 } from '../support/socket.ts';
import { memory as inProcess, type Surroundings } from './command.ts';
import { startService } from './service.ts';

const folder = withFolder();
const quiet = { LOG_LEVEL: 'silent', MEMORY_EMBEDDINGS: 'off' };
const main = `${process.cwd()}/cli/main.ts`;

function memory(args: string[], env: Record<string, string>) {
  return Bun.spawn([process.execPath, main, ...args], {
    env: { PATH: process.env.PATH, HOME: folder.path, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

test('a first key that can be neither shown nor stored is not created until it can', async () => {
  writeFileSync(folder.file('a-file'), 'not a folder');
  const database = `sqlite:${folder.file('first.db')}`;
  const start = async (config: string) => {
    const env = { XDG_CONFIG_HOME: folder.file(config) };
    const output = await whenReady(['--database', database], { env });
    const { stdout } = await inProcess(['keys', 'list', '--json', '--database', database]);
    return { output, keys: JSON.parse(stdout).items.length };
  };
  const unseen = await start('a-file');
  expect(unseen.output).toContain('\nNo API key was created, because ');
  expect(unseen.output).toContain('could not be stored');
  expect(unseen.output).toContain(`\n  memory keys create --database ${database}\n`);
  expect(unseen.output).not.toContain('mk_');
  expect(unseen.keys).toBe(0);
  const stored = await start('a-folder');
  expect(stored.output).toContain('The first API key was created. It is shown only on a terminal.');
  expect(stored.output).not.toContain('mk_');
  expect(stored.keys).toBe(1);
  const { keys } = await Bun.file(folder.file('a-folder/memory-service/profile.json')).json();
  expect(Object.values(keys)).toEqual([{ apiKey: expect.stringMatching(/^mk_/), firstRun: true }]);
});

test.each([
  ['a stored key', { keys: { URL: { apiKey: 'another-key-1' } } }, 'contains another key', true],
  ['nothing', { keys: {} }, 'It is stored for the CLI in', true],
  ['nothing that can be read', 'text', 'could not be stored', true],
  ["the service's URL", { baseUrl: 'URL', keys: {} }, 'It is stored for the CLI in', false],
])(
  'the first key is printed on a terminal if the profile contains %s',
  async (_, profile, words, needsAddress) => {
    const port = freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const text = JSON.stringify(profile).replace('URL', baseUrl);
    const output = await startAndStop(['-p', `${port}`], {}, text);
    const [, key] = /shown only once:\n {2}(mk_\w{38})\n/.exec(output) ?? [];
    expect(output).toContain(`\nTo look inside, open:\n  ${baseUrl}/console#key=${key}\n`);
    expect(output.match(/console/g)).toHaveLength(1);
    expect(output).toContain(words);
    const address = needsAddress ? ` --base-url ${baseUrl}` : '';
    expect(output).toContain('\nIn another terminal, try:\n  memory save');
    expect(output).toContain(`\n  memory search --user ada "peanuts"${address}\n`);
  },
);

test.if(hasIpv6).each([
  ['::1', '[::1]', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1', '[::1]'],
  ['::', '127.0.0.1', '[::1]'],
])('a service that listens on %s is reached at %s, not at %s', async (host, reached, other) => {
  const port = freePort();
  const profile = JSON.stringify({ baseUrl: `http://${other}:${port}`, keys: {} });
  const output = await startAndStop(['-p', `${port}`, '--host', host], {}, profile);
  const url = `http://${reached}:${port}`;
  expect(output).toContain(`\n  ${url}/console#key=mk_`);
  expect(output).toContain(`"${url}/v1/memories?userId=ada"\n`);
  expect(output).toContain(`\n  memory search --user ada "peanuts" --base-url ${url}\n`);
});

test('with a model, the first search is a paraphrase of the first memory', async () => {
  const output = await startAndStop(['-p', '0'], { env: { MEMORY_EMBEDDINGS: 'local' } });
  expect(output).toContain('\n  memory save --user ada "Allergic to peanuts"');
  expect(output).toContain('\n  memory search --user ada "what food should she avoid?"');
});

test('a start names the whole path of the database', async () => {
  using home = temporaryFolder();
  const port = String(freePort());
  const started = (database: string) => startAndStop(['-p', port, '--database', database]);
  const database = home.file('first.db');
  const first = await started(`sqlite:${relative(process.cwd(), database)}`);
  expect(first).toContain(`\nData is stored in ${database}.\nPress Ctrl-C`);
  const second = await started(database);
  expect(second).toContain(`\nData is stored in ${database}.\nPress Ctrl-C`);
  expect(second).toContain(`\nThe console is at http://127.0.0.1:${port}/console\n`);
});

test('a start names no console that is off, and names commands for npm if npm started it', async () => {
  const program = ['/bin/bun', '/clone/cli/main.ts'];
  const env = { npm_command: 'start', MEMORY_CONSOLE: 'off' };
  const output = await startAndStop([], { env, program });
  expect(output).toContain('\nIn another terminal, in this folder, try:\n  npx memory save');
  expect(output).toContain('shown only once');
  expect(output).not.toContain('console');
});

/** Runs `memory serve` until it is ready, and returns its output. */
async function whenReady(argv: string[], around: Surroundings): Promise<string> {
  const interruption = new AbortController();
  const { stderr } = await inProcess(['serve', '-p', '0', ...argv], {
    ...around,
    env: { ...quiet, ...around.env },
    interrupted: interruption.signal,
    onOutput: (text) => /Ctrl-C to stop/.test(text) && setImmediate(() => interruption.abort()),
  });
  return stderr;
}

/** Runs it on a terminal, by default for a new user. */
async function startAndStop(argv: string[], around: Surroundings = {}, profile = '{"keys":{}}') {
  using home = temporaryFolder();
  await Bun.write(home.file('.config/memory-service/profile.json'), profile);
  const database = ['--database', home.file('first.db')];
  return await whenReady([...database, ...argv], { terminal: 100, home: home.path, ...around });
}

test.concurrent.each([{}, { NO_PROXY: 'example.com' }, { no_proxy: 'example.com' }])(
  'requests to the local machine bypass a proxy with %j',
  async (exceptions) => {
    const heard: string[] = [];
    await using proxy = startService(({ url }) => {
      heard.push(url);
      return new Response();
    });
    const url = proxy.env.MEMORY_BASE_URL;
    const env = { HTTP_PROXY: url, http_proxy: url, MEMORY_API_KEY: 'a-secret', ...exceptions };
    const child = memory(['list', '--user', 'u', '--base-url', 'http://127.0.0.1:9'], env);
    const code = await child.exited;
    expect({ code, heard }).toEqual({ code: 5, heard: [] });
  },
);

// Only Linux assigns all addresses in 127.0.0.0/8 to the loopback interface.
test.skipIf(process.platform !== 'linux').each(['NO_PROXY', 'no_proxy'])(
  'an address in %s is reached without the proxy',
  async (name) => {
    const fetch = () => Response.json({ status: 'ok' });
    const service = Bun.serve({ hostname: '127.0.0.2', port: 0, fetch });
    const proxy = 'http://127.0.0.1:1';
    const env = { HTTP_PROXY: proxy, http_proxy: proxy, [name]: '127.0.0.2' };
    const child = memory(['health', '--base-url', `http://127.0.0.2:${service.port}`], env);
    const code = await child.exited;
    await service.stop(true);
    expect(code).toBe(0);
  },
);

/** Starts the service on a database without keys, in which `prepare` makes the first key fail. */
async function failedStart(databaseUrl: string, prepare: () => unknown) {
  const env = { ...quiet, MEMORY_API_KEY: 'a-key-for-tests-1234' };
  await (await startServer({ env, port: 0, databaseUrl })).stop();
  await prepare();
  const args = ['serve', '-p', '0', '--database', databaseUrl];
  const child = memory(args, { ...quiet, XDG_CONFIG_HOME: folder.file('keyless') });
  const [code, stderr] = await Promise.all([child.exited, child.stderr.text()]);
  return { code, stderr };
}

test('a start that cannot create the first key ends, exit 1', async () => {
  const path = folder.file('keyless.db');
  const ended = await failedStart(`sqlite:${path}`, () => {
    using database = new Database(path);
    database.run(`CREATE TRIGGER fails BEFORE INSERT ON api_keys
      BEGIN SELECT RAISE(ABORT, 'no key can be stored'); END`);
  });
  expect(ended).toEqual({ code: 1, stderr: 'Error: no key can be stored\n' });
});

test('a start that loses PostgreSQL before the first key is created ends, exit 1', async () => {
  await using database = await newDatabase();
  const disconnect = 'PERFORM pg_terminate_backend(pg_backend_pid());';
  const lose = () => createTrigger(database.url, 'BEFORE INSERT ON api_keys', disconnect);
  const reason = 'the database cannot be reached; nothing was stored';
  const ended = await failedStart(database.url, lose);
  expect(ended).toEqual({ code: 1, stderr: `Error: ${reason}\n` });
});

test('a database that cannot be created, and a file that is no database, are reported', async () => {
  const file = folder.file('notes.db');
  writeFileSync(file, 'Buy milk. '.repeat(1_000));
  const none = "the database cannot be opened: not a directory: '/dev/null/x.db'";
  const reasons = new Map<string, string>([['/dev/null/x.db', expect.stringContaining(none)]]);
  const damaged =
    `Error: ${file} is damaged and will not be opened: file is not a database. ` +
    'Restore the last backup with "memory restore <backup>", which keeps the damaged file.\n';
  for (const [path, stderr] of reasons.set(file, damaged)) {
    const ran = await inProcess(['serve', '-p', '0', '--database', path]);
    expect(ran).toEqual({ code: 1, stdout: '', stderr });
  }
});

test('serve on PostgreSQL prints the database', async () => {
  await using database = await newDatabase();
  const output = await startAndStop(['--database', database.url]);
  expect(output).toContain('\nData is stored in postgres');
});
