import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { OutputClosed } from '../../cli/terminal/process-output.ts';
import { migrate as copy } from '../../server/admin.ts';
import { withFolder } from '../support/folder.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { rowsOf } from '../support/rows.ts';
import type { TestServer } from '../support/server.ts';
import { rejectionOf } from '../support/thrown.ts';
import { expectRan, lines, memory } from './command.ts';
import { createKeys, fill, migrate, migrating, serve } from './migrate-data.ts';

const memories = 100;
const folder = withFolder();
const source = `sqlite:${folder.file('memory.db')}`;

const keys = await createKeys(source);
const service = await serve(source);
await fill(service, keys, memories);
await service.stop();

describe('--verify', async () => {
  const target = await newDatabase();
  await migrate(source, target.url);
  afterAll(() => target.drop());

  const verify = () => memory(migrating(source, target.url, '--verify'));

  test('copies nothing and reports an equal copy as equal', async () => {
    const { code, stdout, stderr } = await verify();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain('Copied');
    expect(stdout).toMatch(/^memories\tdefault\t(\d+)\t\1\tequal$/m);
  });

  const one = `id = 'mem_m-7'`;
  const longer = [`|| '.'`, ''] as const;
  test.each([
    ['default', 'memories', one, 'content', longer],
    ['default', 'memories', one, 'updated_at', ['+ 1', '- 1']],
    ['default', 'memories', `external_id = 'e-9'`, 'external_key', longer],
    ['other', 'memories', `user_id = 'ben'`, 'version', ['+ 1', '- 1']],
    ['default', 'api_keys', `name = 'whole'`, 'hash', longer],
    ['other', 'api_keys', `name = 'other'`, 'read_only', ['+ 1', '- 1']],
    ['default', 'users', `user_id = 'ada'`, 'last_change', ['+ 1', '- 1']],
    ['default', 'tasks', `memory_id = 'mem_m-40'`, 'attempts', ['+ 1', '- 1']],
    ['default', 'idempotency_keys', `key = 'save'`, 'body', longer],
    ['default', 'projects', `name LIKE 'default%'`, 'name', longer],
    ['', 'maintenance', `name = 'uptime'`, 'value', ['+ 1', '- 1']],
  ] as const)(
    'detects a change in "%s", %s where %s: %s',
    async (project, table, where, column, by) => {
      const change = async (value: string) => {
        const text = `UPDATE ${table} SET ${column} = ${value} WHERE ${where} RETURNING 1`;
        expect(await query(target.url, text)).toHaveLength(1);
      };
      await change(`${column} ${by[0]}`);
      const { code, stdout, stderr } = await verify();
      await change(by[1] === '' ? `left(${column}, -1)` : `${column} ${by[1]}`);
      expect(stderr).toBe(
        'Error: The databases differ.\n' +
          'A server may have written to one of them. To copy again, empty the target first.\n',
      );
      const different = lines(stdout).filter((line) => line.endsWith('\tdifferent'));
      expect(different.map((line) => line.split('\t').slice(0, 2))).toEqual([[table, project]]);
      expect(code).toBe(1);
    },
  );

  test('detects a missing row and an extra row, in both directions and if stdout is closed', async () => {
    await query(target.url, `UPDATE users SET user_id = 'eva' WHERE user_id = 'ben'`);
    const { code, stdout } = await verify();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^users\tother\t1\t1\tdifferent$/m);
    await query(target.url, `DELETE FROM users WHERE user_id = 'eva'`);
    expect((await verify()).stdout).toMatch(/^users\tother\t1\t0\tdifferent$/m);
    const back = migrating(target.url, source, '--verify');
    expect((await memory(back)).stdout).toMatch(/^users\tother\t0\t1\tdifferent$/m);
    const unprinted = new OutputClosed();
    for (const flags of [[], ['--json']]) {
      expect((await memory([...back, ...flags], { unprinted })).code).toBe(1);
    }
  });

  test.each(['source', 'target'])('names a project that only the %s has', async (side) => {
    const { url } = side === 'source' ? { url: source } : target;
    await rowsOf(url, `INSERT INTO projects (project_id, name) VALUES (999, 'extra')`);
    const ran = await verify();
    await rowsOf(url, `DELETE FROM projects WHERE name = 'extra'`);
    expectRan(ran, 1, 'Error: The databases differ.');
    expect(ran.stdout).toMatch(/^projects\textra\t[01]\t[01]\tdifferent$/m);
  });
});

describe('memory migrate is rejected', () => {
  test('while a server runs on either database, on SQLite and on PostgreSQL', async () => {
    await using target = await newDatabase();
    const onSqlite = await serve(source);
    const busy = await memory(migrating(source, target.url));
    await onSqlite.stop();
    expectRan(busy, 1, 'already using');
    const onPostgres = await serve(target.url);
    const to = await memory(migrating(source, target.url));
    const from = await memory(migrating(target.url, `sqlite:${folder.file('none.db')}`));
    await onPostgres.stop();
    for (const ran of [to, from]) expectRan(ran, 1, 'a server is using the database');
    expect(existsSync(folder.file('none.db'))).toBe(false);
  });

  test('for a target with data, a finished copy, or a copy of another source', async () => {
    await using used = await newDatabase();
    await (await serve(used.url)).stop();
    const refusal = async (from: string, to: string) => {
      const { code, stdout, stderr } = await memory(migrating(from, to));
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      return stderr;
    };
    expect(await refusal(source, used.url)).toContain('already has rows in projects');
    await using finished = await newDatabase();
    await migrate(source, finished.url);
    expect(await refusal(source, finished.url)).toContain(
      'is already a complete copy of this source',
    );
    const another = `sqlite:${folder.file('another.db')}`;
    await createKeys(another);
    expect(await refusal(another, finished.url)).toContain('already has rows in projects');
    await using begun = await newDatabase();
    const interrupted = AbortSignal.abort('SIGINT');
    expect((await memory(migrating(another, begun.url), { interrupted })).code).toBe(130);
    expect(await refusal(source, begun.url)).toContain('an unfinished copy of another database');
    const onward = `sqlite:${folder.file('onward.db')}`;
    expect(await refusal(begun.url, onward)).toContain('the source is an unfinished copy');
    expect((await memory(migrating(another, begun.url))).code).toBe(0);
  });

  test('for a source that is missing or has no tables, and nothing is created', async () => {
    await using empty = await newDatabase();
    const file = folder.file('of-nothing.db');
    const missing = await memory(migrating(`sqlite:${file}`, 'postgres://h/d'));
    expectRan(missing, 1, 'no database found at');
    // Nothing has been copied that another run could continue.
    expect(missing.stdout + missing.stderr).not.toContain('Run the same command again');
    const ran = await memory(migrating(empty.url, `sqlite:${file}`));
    expectRan(ran, 1, 'the database has no tables of this service');
    expect(existsSync(file)).toBe(false);
    const tables = 'SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema()';
    expect(await query(empty.url, tables)).toEqual([]);
  });

  test('if a server was started on the source during the copy, and the copy is not served', async () => {
    await using from = await newDatabase();
    await migrate(source, from.url);
    const to = `sqlite:${folder.file('during.db')}`;
    let server: TestServer | undefined;
    const copying = copy(from.url, to, {
      copies: true,
      onCopied: async () => {},
      // All rows have been compared, so the server cannot make the databases differ.
      onCompared: async (done, total) => {
        if (done === total) server = await serve(from.url);
      },
    });
    const { message } = await rejectionOf(copying);
    await server?.stop();
    expect(message).toContain('a server is using the database');
    expect(String(await rejectionOf(serve(to)))).toContain('unfinished copy');
  });
});
