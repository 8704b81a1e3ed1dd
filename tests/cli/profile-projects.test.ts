import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memory, type Surroundings, temporaryFolder } from './command.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Creates a user whose profile has one key for each of the projects `default` and `shop`. */
async function createUser() {
  const folder = temporaryFolder();
  const run = (argv: string[], { env, ...around }: Surroundings = {}) =>
    memory(argv, { ...around, home: folder.path, env: { MEMORY_BASE_URL: server.url, ...env } });
  await run(['profile', 'set', server.url, '-'], { stdin: server.key });
  const create = ['keys', 'create', '--save', '--project', 'shop'];
  const made = await run(create, { env: { MEMORY_DATABASE_URL: server.databaseUrl } });
  const profile = folder.file('.config/memory-service/profile.json');
  return { ...folder, run, made, profile };
}

const list = ['list', '--user', 'u'];

test('a key of another project is stored and used; both can be chosen', async () => {
  using user = await createUser();
  expect(user.made.stderr).toContain(
    `Stored the key for ${server.url}, project shop, in ~/.config`,
  );
  expect(user.made.stderr).not.toContain('replaces');
  const back = `memory profile use ${server.url} --project default\n`;
  expect(user.made.stderr).toContain(
    `Commands now use project shop of this service. To switch back: ${back}`,
  );

  await user.run(['save', '--user', 'u', 'in shop']);
  await user.run(['save', '--user', 'u', 'in default', '--project', 'default']);
  expect((await user.run(list)).stdout).toContain('in shop');
  expect((await user.run(['--project', 'default', ...list])).stdout).toContain('in default');

  await user.run(['profile', 'use', server.url, '--project', 'default']);
  const [row = '', ...more] = lines((await user.run(list)).stdout);
  expect(row).toEndWith('in default');
  expect(more).toEqual([]);
});

test('profile shows both projects and the one in use', async () => {
  using user = await createUser();
  const { items } = JSON.parse((await user.run(['profile', 'list', '--json'])).stdout);
  const ends = (key: string) => `${key.slice(0, 7)}…${key.slice(-4)}`;
  expect(items).toEqual([
    { baseUrl: server.url, project: 'default', apiKey: ends(server.key), used: false },
    { baseUrl: server.url, project: 'shop', apiKey: ends(user.made.stdout.trim()), used: true },
  ]);
  const show = async (...argv: string[]) =>
    JSON.parse((await user.run(['profile', 'show', '--json', ...argv])).stdout);
  expect((await show()).project).toEqual({ value: 'shop', from: 'profile' });
  expect(await show('--project', 'default')).toMatchObject({
    apiKey: { value: ends(server.key), from: 'profile' },
    project: { value: 'default', from: 'flag' },
  });
  const { stdout } = await user.run(['profile', 'list'], { terminal: 120 });
  expect(lines(stdout)[0]).toMatch(/^BASE URL +PROJECT +KEY +USED$/);
});

test('removing a project removes one key; removing the service removes both', async () => {
  using user = await createUser();
  const remove = ['profile', 'remove', server.url];
  expect(await user.run([...remove, '--project', 'shop'])).toMatchObject({
    code: 0,
    stderr: `Removed ${server.url}, project shop.\n`,
  });
  expect(await Bun.file(user.profile).json()).toEqual({
    keys: { [server.url]: { apiKey: server.key } },
  });
  expect((await user.run(list)).code).toBe(0);
  expect((await user.run([...remove, '--project', 'shop'])).code).toBe(3);
  await user.run(['profile', 'set', server.url, '--project', 'shop', '-'], { stdin: server.key });
  await user.run(remove);
  expect(await Bun.file(user.profile).json()).toEqual({ keys: {} });
});

test('removing a project keeps the service in use', async () => {
  using user = await createUser();
  await user.run(['profile', 'use', server.url]);
  await user.run(['profile', 'remove', server.url, '--project', 'shop']);
  expect(await Bun.file(user.profile).json()).toEqual({
    baseUrl: server.url,
    keys: { [server.url]: { apiKey: server.key } },
  });
});

test('removing another service keeps the project in use', async () => {
  using user = await createUser();
  const other = 'http://other.example';
  await user.run(['profile', 'set', other, '-'], { stdin: server.key });
  expect(await user.run(['profile', 'remove', other])).toMatchObject({ code: 0 });
  const { projects } = await Bun.file(user.profile).json();
  expect(projects).toEqual({ [server.url]: 'shop' });
});

test('a project without a key in the profile: exit 4, with the known projects', async () => {
  using user = await createUser();
  const { code, stderr } = await user.run([...list, '--project', 'other']);
  expect(stderr).toStartWith(`Error: No API key for project other of ${server.url}.\n`);
  expect(stderr).toContain(
    'Projects with a key in the profile: default, shop. Add --project <name>',
  );
  expect(code).toBe(4);
});

test('--project overrides the environment, and excludes --api-key', async () => {
  using user = await createUser();
  const env = { MEMORY_API_KEY: 'a-key-that-no-server-knows' };
  expect((await user.run(list, { env })).code).toBe(4);
  expect((await user.run([...list, '--project', 'shop'], { env })).code).toBe(0);
  const both = await user.run([...list, '--project', 'shop', '--api-key', server.key]);
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('not both') });
});

test('the only key of a service is used, whatever its project', async () => {
  using folder = temporaryFolder();
  const env = { MEMORY_BASE_URL: server.url };
  const run = (argv: string[], stdin = '') => memory(argv, { home: folder.path, env, stdin });
  const set = ['profile', 'set', server.url, '-', '--project', 'shop'];
  expect((await run(set, server.key)).stderr).not.toContain('--project');
  expect((await run(list)).code).toBe(0);
});

test('a profile that was written before projects existed still works', async () => {
  using folder = temporaryFolder();
  const path = folder.file('.config/memory-service/profile.json');
  const before = { baseUrl: server.url, keys: { [server.url]: { apiKey: server.key } } };
  await Bun.write(path, JSON.stringify(before));
  expect((await memory(list, { home: folder.path })).code).toBe(0);
  await memory(['profile', 'use', server.url], { home: folder.path });
  expect(await Bun.file(path).json()).toEqual(before);
});

test('removing a service forgets which of its projects was in use', async () => {
  using user = await createUser();
  await user.run(['profile', 'remove', server.url]);
  expect(await Bun.file(user.profile).json()).toEqual({ keys: {} });
});

test('a project may have the name of a command', async () => {
  using user = await createUser();
  const { code, stderr } = await user.run(['--project', 'search', ...list]);
  expect(stderr).toStartWith(`Error: No API key for project search of ${server.url}.\n`);
  expect(code).toBe(4);
});

test('the hint to store a key names the project, if one was chosen', async () => {
  using folder = temporaryFolder();
  const use = async (...more: string[]) =>
    (await memory(['profile', 'use', 'http://x', ...more], { home: folder.path })).stderr;
  expect(await use()).toEndWith('To store one: memory profile set http://x -\n');
  const named = await use('--project', 'books');
  expect(named).toEndWith('To store one: memory profile set http://x - --project books\n');
});

test('the only key of a service is used, whatever keys other services have', async () => {
  using folder = temporaryFolder();
  const env = { MEMORY_BASE_URL: server.url };
  const run = (argv: string[], stdin = '') => memory(argv, { home: folder.path, env, stdin });
  await run(['profile', 'set', 'http://other.example', '-'], server.key);
  await run(['profile', 'set', server.url, '-', '--project', 'shop'], server.key);
  expect((await run(list)).code).toBe(0);
});
