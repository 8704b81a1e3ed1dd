import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync } from 'node:fs';
import { SQL } from 'bun';
import { createConnection } from '../../server/storage/postgres/connection.ts';
import { migrate as makeTables } from '../../server/storage/postgres/migrate.ts';
import { newDatabase, postgresUrl, query, type TestDatabase } from '../support/postgres.ts';
import { startChild } from '../support/process.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, type Surroundings, temporaryFolder } from './command.ts';
import {
  createKeys,
  fill,
  type Keys,
  keyed,
  leaveRunning,
  queued,
  request,
  serve,
  view,
} from './migrate-data.ts';
import { program } from './shell.ts';

/* A database moves from SQLite to PostgreSQL and back, and a client notices nothing. */

const memories = 1_500;
const folder = temporaryFolder();
const path = folder.file('memory.db');
const source = `sqlite:${path}`;
let database: TestDatabase;
let keys: Keys;
let seen: Record<string, string>;

beforeAll(async () => {
  database = await newDatabase();
  keys = await createKeys(source);
  const service = await serve(source);
  await fill(service, keys, memories);
  seen = await until(async () => {
    const now = await view(service, keys);
    return `${now.list}${now.queue}`.includes('processing') ? null : now;
  });
  await service.stop();
  const moved = await memory(migrating(source, database.url));
  expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('is equal to') });
});
afterAll(async () => {
  await database.drop();
  folder[Symbol.dispose]();
});

function migrating(from: string, to: string, ...more: string[]): string[] {
  return ['migrate', '--from', from, '--to', to, ...more];
}

async function migrate(from: string, to: string, around: Surroundings = {}) {
  const { code, stdout, stderr } = await memory(migrating(from, to, '--json'), around);
  return { code, stderr, report: JSON.parse(stdout) };
}

type FreshDatabase = Awaited<ReturnType<typeof freshDatabase>>;

/** A database of PostgreSQL, and its schema for statements on the base connection. */
async function freshDatabase() {
  const { url, drop } = await newDatabase();
  return {
    url,
    schema: new URL(url).searchParams.get('search_path'),
    base: postgresUrl,
    async makeTables() {
      const connection = createConnection({ url, purpose: 'test' });
      await makeTables(connection);
      connection.close();
    },
    [Symbol.asyncDispose]: drop,
  };
}

/** Lets other sessions read the table only. */
async function lockWrites(url: string, table: string): Promise<AsyncDisposable> {
  const sql = new SQL(url, { max: 1 });
  const session = await sql.reserve();
  await session`BEGIN`;
  await session.unsafe(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  return { [Symbol.asyncDispose]: () => sql.close({ timeout: 0 }) };
}

/** A copy of the database file. */
function copyOf(name: string): string {
  copyFileSync(path, folder.file(name));
  return `sqlite:${folder.file(name)}`;
}

test('what a client sees is the same after it, and after the way back', async () => {
  // Else nothing was compared.
  expect(Object.values(seen).filter((text) => text.includes('"score"')).length).toBeGreaterThan(5);
  expect(seen).toMatchObject({
    revoked: expect.stringMatching(/^401/),
    other: expect.stringContaining('of another project'),
    failed: expect.stringContaining('"failed"'),
    'replay gone': expect.stringContaining('"deleted":true'),
  });
  const onPostgres = await serve(database.url);
  expect(await view(onPostgres, keys)).toEqual(seen);
  await onPostgres.stop();
  const back = `sqlite:${folder.file('back.db')}`;
  expect(await migrate(database.url, back)).toMatchObject({ code: 0, report: { isEqual: true } });
  const onSqlite = await serve(back);
  expect(await view(onSqlite, keys)).toEqual(seen);
  await onSqlite.stop();
});

test('tasks that were running wait again, in order, with their attempt back and are processed', async () => {
  const from = copyOf('running.db');
  leaveRunning(folder.file('running.db'));
  await using target = await freshDatabase();
  expect(await migrate(from, target.url)).toMatchObject({ code: 0 });
  const order = `SELECT m.external_id AS "externalId", t.state, t.attempts
    FROM ${target.schema}.tasks AS t JOIN ${target.schema}.memories AS m ON m.id = t.memory_id
    WHERE t.run_at IS NOT NULL ORDER BY t.run_at, t.place`;
  expect(await query(await target.base(), order)).toEqual(
    queued.map((externalId) => ({ externalId, state: 'waiting', attempts: 1 })),
  );
  const back = folder.file('queue.db');
  await migrate(target.url, `sqlite:${back}`);
  const db = new Database(back);
  const tasks = `SELECT m.external_id FROM tasks AS t JOIN memories AS m ON m.row_id = memory_row_id
    WHERE t.run_at IS NOT NULL ORDER BY t.run_at, t.task_id`;
  expect(db.prepare(tasks).values().flat()).toEqual(queued);
  db.close(true);
  const service = await serve(target.url);
  const list = '/v1/memories?userId=queue&limit=100';
  const text = await until(async () => {
    const page = await request(service, keys.whole, 'GET', list);
    return page.text.includes('processing') ? null : page.text;
  });
  expect(text.match(/"status":"complete"/g)).toHaveLength(queued.length);
  await service.stop();
});

describe('a copy that is killed', () => {
  test('is not served, and goes on after the last batch', async () => {
    await using target = await freshDatabase();
    await target.makeTables();
    const ask = async (text: string) => query(await target.base(), text).catch(() => []);
    const copied = async (table: string) => {
      const [row] = await ask(`SELECT progress FROM ${target.schema}.copy_progress`);
      return String(row?.progress).includes(`"${table}"`);
    };
    // The copy waits for this lock in its last batch.
    await using lock = await lockWrites(target.url, 'idempotency_keys');
    const child = startChild([...program, ...migrating(source, target.url)]);
    await until(() => copied('ended_tasks'));
    const [waiting] = await until(async () => {
      const rows = await ask(`SELECT pid FROM pg_locks WHERE NOT granted
        AND relation = '${target.schema}.idempotency_keys'::regclass`);
      return rows.length > 0 ? rows : null;
    });
    await child.end('SIGKILL');
    // It would store the batch all the same if it had COMMIT already.
    await ask(`SELECT pg_terminate_backend(${waiting?.pid})`);
    await lock[Symbol.asyncDispose]();
    expect(String(await rejectionOf(serve(target.url)))).toContain('unfinished copy');
    expect((await memory(['keys', 'list', '--database', target.url])).stderr).toContain(
      'Run the same "memory migrate" again',
    );
    expect(await migrate(source, target.url)).toMatchObject({
      code: 0,
      report: { isEqual: true, copiedRows: keyed.length },
    });
    await (await serve(target.url)).stop();
  });

  test('or interrupted on the way back does, too', async () => {
    const back = `sqlite:${folder.file('interrupted.db')}`;
    await using from = await freshDatabase();
    await migrate(source, from.url);
    const interrupt = new AbortController();
    const first = await memory(migrating(from.url, back), {
      interrupted: interrupt.signal,
      tickMs: 10_000,
      onOutput: (text) => text.includes('rows copied') && interrupt.abort('SIGINT'),
    });
    expect(first).toMatchObject({ code: 130, stdout: '' });
    expect(String(await rejectionOf(serve(back)))).toContain('unfinished copy');
    const again = await migrate(from.url, back);
    expect(again).toMatchObject({ code: 0, report: { isEqual: true } });
    const rows = again.report.items.map(({ source }: { source: { rows: number } }) => source.rows);
    const total = rows.reduce((sum: number, count: number) => sum + count, 0);
    expect(again.report.copiedRows).toBeGreaterThan(0);
    expect(again.report.copiedRows).toBeLessThan(total);
  });
});

describe('--verify', () => {
  let target: FreshDatabase;
  beforeAll(async () => {
    target = await freshDatabase();
    await migrate(source, target.url);
  });
  afterAll(() => target[Symbol.asyncDispose]());

  const verify = () => memory(migrating(source, target.url, '--verify'));

  test('copies nothing and finds an equal copy equal', async () => {
    const { code, stdout, stderr } = await verify();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain('Copied');
    expect(stdout).toMatch(/^memories\tdefault\t(\d+)\t\1\tequal$/m);
  });

  const one = `id = 'mem_m-7'`;
  const longer = [`|| '.'`, ''] as const;
  test.each([
    ['memories of project default', 'memories', one, 'content', longer],
    ['memories of project default', 'memories', one, 'updated_at', ['+ 1', '- 1']],
    ['memories of project default', 'memories', one, 'bucket', ['+ 1', '- 1']],
    ['memories of project default', 'memories', `external_id = 'e-9'`, 'origin', longer],
    ['memories of project default', 'memory_locations', one, 'location', ['+ 1', '- 1']],
    ['memories of project other', 'memories', `user_id = 'ben'`, 'version', ['+ 1', '- 1']],
    ['api_keys of project default', 'api_keys', `name = 'whole'`, 'hash', longer],
    [
      'api_keys of project other',
      'api_keys',
      `name = 'other'`,
      'read_only',
      ['= false', '= false'],
    ],
    ['users of project default', 'users', `user_id = 'ada'`, 'last_change', ['+ 1', '- 1']],
    [
      'ended_tasks of project default',
      'tasks',
      `memory_id = 'mem_m-40'`,
      'attempts',
      ['+ 1', '- 1'],
    ],
    ['idempotency_keys of project default', 'idempotency_keys', `key = 'save'`, 'body', longer],
    [
      'idempotency_keys of project default',
      'idempotency_keys',
      `key = 'save'`,
      'memory_bucket',
      ['+ 1', '- 1'],
    ],
    ['projects of project default', 'projects', `name LIKE 'default%'`, 'name', longer],
    ['uptime', 'maintenance', `name = 'uptime'`, 'value', ['+ 1', '- 1']],
  ] as const)(
    'finds a change of %s, in %s where %s: %s',
    async (place, table, where, column, by) => {
      const change = async (value: string) => {
        const text = `UPDATE ${target.schema}.${table} SET ${column} = ${value} WHERE ${where} RETURNING 1`;
        expect(await query(await target.base(), text)).toHaveLength(1);
      };
      await change(`${column} ${by[0]}`);
      const { code, stderr } = await verify();
      await change(by[1] === '' ? `left(${column}, -1)` : `${column} ${by[1]}`);
      expect(stderr).toBe(
        `Error: The databases differ in ${place}.\n` +
          'A server that used one of them changed it; what it wrote is no copy.\n',
      );
      expect(code).toBe(1);
    },
  );

  test('finds a missing row and one too many', async () => {
    const at = `${target.schema}.users`;
    const base = await target.base();
    await query(base, `UPDATE ${at} SET user_id = 'eva', bucket = 0 WHERE user_id = 'ben'`);
    const { code, stdout } = await verify();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^users\tother\t1\t1\tdifferent$/m);
    await query(base, `DELETE FROM ${at} WHERE user_id = 'eva'`);
    expect((await verify()).stdout).toMatch(/^users\tother\t1\t0\tdifferent$/m);
  });
});

test('a changed byte of an SQLite database is found, and it is not served', async () => {
  await using from = await freshDatabase();
  await migrate(source, from.url);
  const back = folder.file('changed.db');
  await migrate(from.url, `sqlite:${back}`);
  const db = new Database(back);
  db.run(`UPDATE memories SET content = content || '.' WHERE id = 'mem_m-7'`);
  db.close(true);
  const { code, stdout } = await memory(
    migrating(from.url, `sqlite:${back}`, '--verify', '--json'),
  );
  const [report] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const different = report.items.filter(({ isEqual }: { isEqual: boolean }) => !isEqual);
  expect(different).toMatchObject([{ table: 'memories', project: 'default' }]);
  expect(code).toBe(1);
});

describe('is refused', () => {
  test('while a server runs on either database, on SQLite and on PostgreSQL', async () => {
    await using target = await freshDatabase();
    const onSqlite = await serve(source);
    const busy = await memory(migrating(source, target.url));
    await onSqlite.stop();
    expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining('already running') });
    const onPostgres = await serve(target.url);
    const to = await memory(migrating(source, target.url));
    const from = await memory(migrating(target.url, `sqlite:${folder.file('none.db')}`));
    await onPostgres.stop();
    for (const { code, stderr } of [to, from]) {
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('a server is running on the database'),
      });
    }
    expect(existsSync(folder.file('none.db'))).toBe(false);
  });

  test('for a target that is used, finished, or the copy of another', async () => {
    await using used = await freshDatabase();
    await (await serve(used.url)).stop();
    const refusal = async (from: string, to: string) => {
      const { code, stdout, stderr } = await memory(migrating(from, to));
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      return stderr;
    };
    expect(await refusal(source, used.url)).toContain('has rows in projects already');
    await using finished = await freshDatabase();
    await migrate(source, finished.url);
    expect(await refusal(source, finished.url)).toContain('is a finished copy of this source');
    const another = `sqlite:${folder.file('another.db')}`;
    await createKeys(another);
    expect(await refusal(another, finished.url)).toContain('has rows in projects already');
    await using begun = await freshDatabase();
    const interrupted = AbortSignal.abort('SIGINT');
    expect((await memory(migrating(another, begun.url), { interrupted })).code).toBe(130);
    expect(await refusal(source, begun.url)).toContain('the unfinished copy of another database');
    expect((await memory(migrating(another, begun.url))).code).toBe(0);
  });

  test.each([
    ['two of a kind', source, `sqlite:${folder.file('two.db')}`, 'memory backup'],
    [
      'a source that is not there',
      `sqlite:${folder.file('no.db')}`,
      'postgres://h/d',
      'no database at',
    ],
    ['a name of no database', source, 'mysql://h/d', '--from or --to'],
  ])('for %s', async (_, from, to, words) => {
    const { code, stdout, stderr } = await memory(migrating(from, to));
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(words),
    });
    expect(existsSync(folder.file('no.db'))).toBe(false);
  });

  test('without two names: exit 2', async () => {
    const { code, stderr } = await memory(['migrate', '--from', source]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Missing --to') });
  });
});
