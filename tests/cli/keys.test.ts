import { expect, test } from 'bun:test';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { lines, memory, memoryAt, temporaryFolder } from './command.ts';

test('a key is made, listed without itself, used, revoked', async () => {
  const server = await startTestServer();
  const env = { MEMORY_DATABASE_URL: server.databaseUrl };
  const made = await memory(['keys', 'create', '--name', 'app', '--expires', '30d'], { env });
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(/^mk_\w+\n$/);
  const key = made.stdout.trim();

  const listed = await memory(['keys', 'list'], { env });
  expect(listed.stdout).not.toContain(key);
  const row = lines(listed.stdout)
    .map((line) => line.split('\t'))
    .find((row) => row[7] === 'app');
  const [id = '', project, shown, createdAt = '', , expiresAt = ''] = row ?? [];
  expect(project).toBe('default');
  expect(shown).toEndWith(key.slice(-4));
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBeWithin(29 * 864e5, 31 * 864e5);

  const save = () => memoryAt(server)(['save', '--user', 'u', 'x', '--api-key', key]);
  await until(async () => (await save()).code === 0, { what: 'the key in force' });
  expect(await memory(['keys', 'revoke', id], { env })).toMatchObject({ code: 0 });
  await until(async () => (await save()).code === 4, { what: 'the key refused' });
  expect(await memory(['keys', 'revoke', id], { env })).toMatchObject({ code: 3 });
  await server.stop();
});

test('--json gives objects, with times as the API writes them', async () => {
  using folder = temporaryFolder();
  const database = ['--json', '--database', `sqlite:${folder.file('new.db')}`];
  const { stdout } = await memory(['keys', 'create', '--project', 'other', ...database]);
  const made = JSON.parse(stdout);
  expect(made).toMatchObject({ project: 'other', name: 'unnamed', expiresAt: null });
  const { items } = JSON.parse((await memory(['keys', 'list', ...database])).stdout);
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ id: made.id, project: 'other', revokedAt: null });
  expect(items[0].createdAt).toMatch(/^\d{4}-.*\.\d{3}Z$/);
  const revoked = await memory(['keys', 'revoke', made.id, ...database]);
  expect(JSON.parse(revoked.stdout)).toEqual({ id: made.id, revoked: true });
});

test('on a terminal a table; columns that say nothing are left out', async () => {
  using folder = temporaryFolder();
  const database = ['--database', `sqlite:${folder.file('new.db')}`];
  await memory(['keys', 'create', ...database]);
  const { stdout } = await memory(['keys', 'list', ...database], { terminal: 80 });
  expect(lines(stdout)[0]).toMatch(/^ID +KEY +AGE +USED +NAME$/);
});

test('a database that cannot be opened is told without its password', async () => {
  const argv = ['keys', 'list', '--database', 'postgres://me:secret@127.0.0.1:1/x'];
  const { code, stderr } = await memory(argv);
  expect(stderr).toContain('Cannot open the database');
  expect(stderr).not.toContain('secret');
  expect(code).toBe(1);
});
