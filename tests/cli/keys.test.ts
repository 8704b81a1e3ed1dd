import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';
import { expectRan, lines, memory, type Surroundings } from './command.ts';

/** Creates a database without keys. `keys` runs a command on it. */
function newKeys() {
  const folder = temporaryFolder();
  const keys = (line: string, around: Surroundings = {}) =>
    memory([...`keys ${line} --database`.split(' '), folder.file('new.db')], around);
  return { ...folder, keys };
}

test.each([
  ['cannot be written', null, 'ENOTDIR'],
  ['cannot be read', 'text', 'cannot be read'],
])('keys create --save prints the key if the profile %s, exit 1', async (_, text, reason) => {
  using folder = newKeys();
  const config = folder.file('config');
  await Bun.write(text === null ? config : `${config}/memory-service/profile.json`, text ?? '');
  const env = { XDG_CONFIG_HOME: config };
  const line = 'create --save --base-url http://127.0.0.1:9';
  const { stdout, ...ran } = await folder.keys(line, { env });
  expect(stdout).toMatch(/^mk_\w+\n$/);
  expectRan(ran, 1, new RegExp(`\nError: The key could not be stored \\(.*${reason}`));
});

test.if(process.platform === 'linux')('the commands close the database', async () => {
  using folder = newKeys();
  await folder.keys('create');
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    const path = join('/proc/self/fd', fd);
    return existsSync(path) ? readlinkSync(path) : '';
  });
  expect(targets.filter((path) => path.startsWith(folder.path))).toEqual([]);
});

test('the table shows which keys have expired', async () => {
  using folder = newKeys();
  await folder.keys('create --expires 1s --name short');
  await folder.keys('create --expires 30d --name long');
  const table = async () => {
    const { stdout } = await folder.keys('list', { terminal: 80 });
    return /expired +short\n/.test(stdout) && stdout;
  };
  const stdout = await until(table, { what: 'an expired key' });
  expect(stdout).toMatch(/\d{4}-\d\d-\d\d +long\n/);
});

const elsewhere = { MEMORY_DATABASE_URL: 'sqlite:no/such.db' };
test.each([
  ['keys list', elsewhere, 'no/such.db'],
  ['keys revoke key_1', elsewhere, 'no/such.db'],
  ['keys create', elsewhere, 'no/such.db'],
  ['keys create', {}, 'data/memory.db'],
  ['keys list --database none/x.db', {}, 'none/x.db'],
])('%s with %p names the missing database, and does not create it', async (line, env, path) => {
  using folder = temporaryFolder();
  const { stderr, ...ran } = await memory(line.split(' '), { env, cwd: folder.path });
  expect(stderr).toContain(`No database found at ${folder.file(path)}.\n`);
  expect(stderr).toContain('To create a database: memory serve\n');
  expect(ran).toEqual({ code: 1, stdout: '' });
  expect(existsSync(folder.file(dirname(path)))).toBe(false);
});

test.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['12h', 43_200_000],
])('keys create --expires %s counts from now', async (time, ms) => {
  using folder = newKeys();
  const { stdout } = await folder.keys(`create --json --expires ${time}`);
  expect(Date.parse(JSON.parse(stdout).expiresAt) - Date.now()).toBeWithin(ms - 10_000, ms + 1);
});

test('the table of keys fills 80 columns and never wraps', async () => {
  using folder = newKeys();
  const [name, project] = ['n'.repeat(100), 'p'.repeat(64)];
  const create = `create --name ${name} --expires 30d --json --project ${project}`;
  await folder.keys(`revoke ${JSON.parse((await folder.keys(create)).stdout).id}`);
  const { stdout } = await folder.keys('list', { terminal: 80 });
  expect(Math.max(...lines(stdout).map((line) => Bun.stringWidth(line)))).toBe(80);
  expect(lines(stdout)[0]).toMatch(/^ID +PROJECT .*REVOKED +NAME$/);
  const wide = await folder.keys('list', { terminal: 200 });
  expect(lines(wide.stdout)[0]).toContain('EXPIRES');
});

test('on a narrow terminal, age is omitted first, then use, key, expiry and access', async () => {
  using folder = newKeys();
  await folder.keys('create --expires 30d --read-only');
  await folder.keys('create');
  const headers = new Set<string>();
  for (let terminal = 120; terminal > 40; terminal -= 1) {
    const { stdout } = await folder.keys('list', { terminal });
    headers.add(lines(stdout)[0]?.replace(/ +/g, ' ') ?? '');
  }
  expect([...headers]).toEqual([
    'ID KEY AGE USED EXPIRES ACCESS NAME',
    'ID KEY USED EXPIRES ACCESS NAME',
    'ID KEY EXPIRES ACCESS NAME',
    'ID EXPIRES ACCESS NAME',
    'ID ACCESS NAME',
    'ID NAME',
  ]);
});
