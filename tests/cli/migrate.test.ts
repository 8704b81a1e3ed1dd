import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { copyFileSync } from 'node:fs';
import { openAdmin } from '../../server/admin.ts';
import { withFolder } from '../support/folder.ts';
import { newDatabase, openTransaction, query } from '../support/postgres.ts';
import { startChild } from '../support/process.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { expectRan, memory, type Surroundings } from './command.ts';
import {
  createKeys,
  fill,
  keyed,
  leaveRunning,
  migrate,
  migrating,
  queued,
  request,
  serve,
  view,
  whenIdle,
} from './migrate-data.ts';
import { program } from './shell.ts';

const memories = 1_100;
const folder = withFolder();
const path = folder.file('memory.db');
const source = `sqlite:${path}`;
const database = await newDatabase();
afterAll(database.drop);

const keys = await createKeys(source);
const filled = await serve(source);
await fill(filled, keys, memories);
const seen = await view(filled, keys);
await filled.stop();
expectRan(
  await memory(migrating(source, database.url)),
  0,
  /Copied \d+,\d{3} rows\. .* is equal to /,
);

/** Sends SIGINT when the output contains `words`. The fast clock makes every batch print a line. */
function interruptedAfter(words: string): Surroundings {
  const interrupt = new AbortController();
  const onOutput = (text: string) => void (text.includes(words) && interrupt.abort('SIGINT'));
  return { interrupted: interrupt.signal, tickMs: 10_000, onOutput };
}

function copyOf(name: string): string {
  copyFileSync(path, folder.file(name));
  return `sqlite:${folder.file(name)}`;
}

test('a comparison shows its progress over the rows of both databases', async () => {
  const argv = migrating(source, database.url, '--verify', '--json');
  // The fast clock makes every batch print a line.
  const { code, stdout, stderr } = await memory(argv, { tickMs: 10_000 });
  expect(code).toBe(0);
  type Item = Record<'source' | 'target', { rows: number }>;
  const { items, copiedRows } = JSON.parse(stdout) as { items: Item[]; copiedRows: number };
  expect(copiedRows).toBe(0);
  const total = items.reduce((sum, { source, target }) => sum + source.rows + target.rows, 0);
  const reports = stderr.matchAll(/(\d+)% {2}([\d,]+) rows compared/g);
  const shown = Array.from(reports, ([, share, rows = '']) => {
    return { share: Number(share), rows: Number(rows.replaceAll(',', '')) };
  });
  expect(shown.at(-1)).toEqual({ share: 100, rows: total });
  const counts = shown.map(({ rows }) => rows);
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  for (const { share, rows } of shown) expect(share).toBe(Math.floor((rows / total) * 100));
});

test('clients get the same responses after a copy to PostgreSQL and back', async () => {
  // Without these checks, the comparison would also succeed with empty results and errors.
  expect(Object.values(seen).filter((text) => text.includes('"score"')).length).toBeGreaterThan(5);
  expect(seen).toMatchObject({
    revoked: expect.stringMatching(/^401/),
    other: expect.stringContaining('of another project'),
    failed: expect.stringContaining('"failed"'),
    'replay gone': expect.stringContaining('"deleted":true'),
  });
  const onPostgres = await serve(database.url);
  expect(await view(onPostgres, keys)).toEqual(seen);
  const again = {
    headers: { 'idempotency-key': 'gone-too' },
    body: { userId: 'eve', content: 'deleted on PostgreSQL' },
  };
  const saved = await request(onPostgres, keys.whole, 'POST', '/v1/memories', again);
  const { id } = JSON.parse(saved.text);
  await request(onPostgres, keys.whole, 'DELETE', `/v1/memories/${id}`);
  await onPostgres.stop();
  const back = `sqlite:${folder.file('back.db')}`;
  expect(await migrate(database.url, back)).toMatchObject({ code: 0, report: { isEqual: true } });
  const onSqlite = await serve(back);
  expect(await view(onSqlite, keys)).toEqual(seen);
  expect(await request(onSqlite, keys.whole, 'POST', '/v1/memories', again)).toEqual({
    status: 201,
    text: JSON.stringify({ id, memoryId: id, deleted: true }),
  });
  await onSqlite.stop();
});

test('running tasks keep their order, and run again once their leases have ended', async () => {
  const from = copyOf('running.db');
  leaveRunning(folder.file('running.db'));
  await using target = await newDatabase();
  expect(await migrate(from, target.url)).toMatchObject({ code: 0 });
  const order = `SELECT m.external_id AS "externalId", t.state, t.attempts::int4 AS attempts
    FROM tasks AS t JOIN memories AS m ON m.id = t.memory_id
    WHERE t.run_at IS NOT NULL ORDER BY t.run_at, t.ordinal`;
  expect(await query(target.url, order)).toEqual(
    queued.map((externalId) => ({ externalId, state: 'running', attempts: 2 })),
  );
  const back = folder.file('queue.db');
  await migrate(target.url, `sqlite:${back}`);
  const db = new Database(back);
  const tasks = `SELECT m.external_id FROM tasks AS t JOIN memories AS m ON m.id = memory_id
    WHERE t.run_at IS NOT NULL ORDER BY t.run_at, t.ordinal`;
  expect(db.prepare(tasks).values().flat()).toEqual(queued);
  db.close(true);
  await using service = await serve(target.url);
  await whenIdle(service);
  const complete = `SELECT 1 FROM tasks WHERE user_id LIKE 'queue-%' AND state = 'complete'`;
  expect(await query(target.url, complete)).toHaveLength(queued.length);
});

describe('an interrupted copy', () => {
  test('is not served after a kill, and resumes after the last batch', async () => {
    await using target = await newDatabase();
    await (await openAdmin(target.url)).close();
    const ask = (text: string) => query(target.url, text).catch(() => []);
    const copied = async (table: string) => {
      const [row] = await ask(`SELECT progress FROM copy_progress`);
      return String(row?.progress).includes(`"${table}"`);
    };
    // The last batch of the copy waits for this lock.
    const lock = 'LOCK TABLE idempotency_keys IN EXCLUSIVE MODE';
    const unlock = await openTransaction(target.url, lock);
    const child = startChild([...program, ...migrating(source, target.url)]);
    await until(() => copied('tasks'));
    const [waiting] = await until(async () => {
      const rows = await ask(`SELECT pid FROM pg_locks WHERE NOT granted
        AND relation = 'idempotency_keys'::regclass`);
      return rows.length > 0 ? rows : null;
    });
    await child.end('SIGKILL');
    // Killing the client is not enough: a COMMIT that was already sent would store the batch.
    await ask(`SELECT pg_terminate_backend(${waiting?.pid})`);
    await unlock();
    expect(String(await rejectionOf(serve(target.url)))).toContain('unfinished copy');
    expect((await memory(['keys', 'list', '--database', target.url])).stderr).toContain(
      'Run the same "memory migrate" command again',
    );
    expect(await migrate(source, target.url)).toMatchObject({
      code: 0,
      report: { isEqual: true, copiedRows: keyed.length },
    });
    await (await serve(target.url)).stop();
  });

  test('is reported and not served if its source changes before it resumes', async () => {
    const from = copyOf('changed.db');
    await using target = await newDatabase();
    const first = await memory(migrating(from, target.url), interruptedAfter('rows copied'));
    expect(first).toMatchObject({ code: 130, stdout: '' });
    const db = new Database(folder.file('changed.db'));
    db.run(`UPDATE projects SET name = 'renamed' WHERE name = 'default'`);
    db.close(true);
    const { code, report } = await migrate(from, target.url);
    const different = report.items.filter(({ isEqual }: { isEqual: boolean }) => !isEqual);
    expect(different).toMatchObject([{ table: 'projects', project: 'renamed' }]);
    expect(code).toBe(1);
    expect(String(await rejectionOf(serve(target.url)))).toContain('unfinished copy');
  });

  test('back to SQLite resumes as well', async () => {
    const back = `sqlite:${folder.file('interrupted.db')}`;
    await using from = await newDatabase();
    await migrate(source, from.url);
    const first = await memory(migrating(from.url, back), interruptedAfter('rows copied'));
    expect(first).toMatchObject({ code: 130, stdout: '' });
    expect(String(await rejectionOf(serve(back)))).toContain('unfinished copy');
    for (const command of ['list', 'create']) {
      const ran = await memory(['keys', command, '--database', back]);
      expectRan(ran, 1, 'Run the same "memory migrate" command again');
    }
    const again = await migrate(from.url, back);
    expect(again).toMatchObject({ code: 0, report: { isEqual: true } });
    const rows = again.report.items.map(({ source }: { source: { rows: number } }) => source.rows);
    const total = rows.reduce((sum: number, count: number) => sum + count, 0);
    expect(again.report.copiedRows).toBeGreaterThan(0);
    expect(again.report.copiedRows).toBeLessThan(total);
  });
});
