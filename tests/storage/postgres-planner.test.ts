import { afterAll, expect, test } from 'bun:test';
import { newMemoryId } from '../../server/ids.ts';
import { createConnection, statement } from '../../server/storage/postgres/connection.ts';
import { changeByKey, readInIndexOrder } from '../../server/storage/postgres/planner.ts';
import { newDatabase, newWholeDatabase, query } from '../support/postgres.ts';
import type { SentStatement } from '../support/statement-recorder.ts';
import { until } from '../support/until.ts';
import { claim, imported, memory, newProject, record } from './fixtures.ts';
import { hasCitus } from './plans.ts';
import { openInSchema, openRecorded, openWithFastTimers } from './postgres.ts';

/* What is sent to PostgreSQL, and how it is planned, for a user with thousands of memories. */

const userId = 'ada';
/** The number of other users, who have few memories. */
const others = 200;

const recorded = await openRecorded(await newDatabase());
const { database, project, recorder, storage } = recorded;
afterAll(() => recorded[Symbol.asyncDispose]());

const accept = (count: number, userOf = (_: number) => userId) =>
  project.accept(
    Array.from({ length: count }, (_, n) => record({ id: newMemoryId(), userId: userOf(n) })),
  );
for (let part = 0; part < 3; part += 1) await accept(1_000);
await accept(1_000, (n) => `user-${n % others}`);

const isList = ({ text }: SentStatement) => text.includes('ORDER BY m.created_at');

test('every cleanup sends the same statements, so that no statement is prepared again', async () => {
  const textsAt = async (now: number) => {
    await project.save(memory({ userId: 'gone', expiresAt: now }), { at: now - 1 });
    recorder.drain();
    expect(await storage.maintain({ now, elapsedMs: 1 })).toMatchObject({ expiredMemories: 1 });
    const cleanup = recorder.drain().filter(({ text }) => text.includes('expires_at'));
    return new Set(cleanup.map(({ text }) => text));
  };
  expect(await textsAt(6_000)).toEqual(await textsAt(5_000));
});

test('a statement is prepared once, whatever its values are', async () => {
  const connection = createConnection({ url: database.url, purpose: 'test' });
  const text = 'SELECT CAST($1 AS text) AS text, CAST($2 AS bigint) AS number';
  for (const one of ['text', null]) {
    for (const number of [1, 2 ** 40, null]) {
      expect(await connection.run([statement(text, [one, number])])).toEqual([
        [{ text: one, number }],
      ]);
    }
  }
  const prepared = 'SELECT statement FROM pg_prepared_statements WHERE statement = $1';
  expect(await connection.run([statement(prepared, [text])])).toEqual([[{ statement: text }]]);
  connection.close();
});

test('lists with different filters share a few statements', async () => {
  const given = { type: 'event', status: 'complete', source: 's', externalId: 'e', from: 0, to: 1 };
  const fields = Object.entries(given);
  for (let bits = 0; bits < 2 ** fields.length; bits += 1) {
    const some = fields.filter((_, index) => bits & (1 << index));
    await project.list('user-1', { filter: Object.fromEntries(some) });
  }
  for (let keys = 1; keys < 40; keys += 1) {
    const metadata = Array.from({ length: keys }, (_, n) => ({ key: `key-${n}`, value: 'value' }));
    await project.list('user-1', { filter: { metadata } });
  }
  expect(recorder.prepared()).toBeWithin(5, 40);
});

test('a list query reads only the rows of its page', async () => {
  recorder.drain();
  expect((await project.page(userId, { limit: 20 })).items).toHaveLength(20);
  const [list] = recorder.drain().filter(isList);
  if (list === undefined) throw new Error('no statement was sent');
  await query(database.url, 'ANALYZE users, memories, tasks');
  // The query reads about four blocks for each of 21 memories, and as many for each task.
  expect(await blocksRead(list, readInIndexOrder)).toBeLessThan(250);
});

test('a list query does not read past a thousand expired memories', async () => {
  const expired = { userId: 'expired', expiresAt: 3_000 };
  await project.save(memory({ userId: expired.userId }), { at: 1_000 });
  const records = Array.from({ length: 1_000 }, () => record(expired));
  await project.accept(records, { at: 2_000 });
  recorder.drain();
  const { items } = await project.page(expired.userId, { limit: 20, now: 3_000 });
  expect(items).toHaveLength(1);
  const [list] = recorder.drain().filter(isList);
  if (list === undefined) throw new Error('no statement was sent');
  const plan = JSON.stringify(await explain(database.url, list, readInIndexOrder));
  const removed = [...plan.matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, rows]) =>
    Number(rows),
  );
  expect(Math.max(0, ...removed)).toBeLessThan(100);
});

test('what is found or listed is read by key, even if there were no tasks before', async () => {
  await using few = await openRecorded(await newDatabase());
  const { database, project, recorder } = few;
  const grow = () => project.accept(Array.from({ length: 1_000 }, () => record({ userId })));
  const empty = () => query(database.url, 'DELETE FROM tasks');
  await grow();
  await empty();
  recorder.drain();
  await project.page(userId, { limit: 20 });
  await project.list(userId, { filter: { status: 'processing' } });
  await project.list(userId, { filter: { from: 1 } });
  await project.list(userId, { filter: { metadata: [{ key: 'of', value: userId }] } });
  await project.search(record().content, { userId });
  const sent = recorder.drain().filter((one) => isList(one) || one.text.includes('AS found'));
  expect(sent.filter(({ text }) => text.includes('tasks AS t'))).toHaveLength(5);
  for (const one of sent) {
    await empty();
    await query(database.url, 'VACUUM ANALYZE users, memories, tasks');
    const plan = await explain(database.url, one, readInIndexOrder, grow);
    expect(JSON.stringify(plan)).not.toContain('"Join Filter"');
  }
});

test('a list does not compare each user with all those who have expired memories', async () => {
  recorder.drain();
  await project.users({ order: 'memories' });
  const sent = recorder.drain().filter(({ text }) => /FROM users/.test(text));
  expect(sent.length).toBeGreaterThan(0);
  for (const one of sent) {
    const plan = await explain(database.url, one, readInIndexOrder);
    expect(JSON.stringify(plan)).not.toContain('"Join Filter"');
  }
});

test('a claim finds its task by key, even if the queue was empty at the last ANALYZE', async () => {
  await query(database.url, `UPDATE tasks SET state = 'complete', run_at = NULL`);
  await query(database.url, 'VACUUM ANALYZE tasks');
  for (let part = 0; part < 3; part += 1) await accept(1_000);
  recorder.drain();
  await claim(storage, { limit: 2 });
  const claims = recorder.drain().filter(({ text }) => text.startsWith('UPDATE tasks'));
  expect(claims).toHaveLength(2);
  for (const sent of claims) expect(await blocksRead(sent, changeByKey)).toBeLessThan(40);
});

test('a statement for many rows finds each by its key, even if the table was small', async () => {
  await using few = await openRecorded(await newDatabase());
  const { database, project, recorder, storage } = few;
  const accept = (count: number) =>
    project.accept(Array.from({ length: count }, (_, index) => record({ userId: `u-${index}` })));
  const finish = async () => {
    const tasks = await claim(storage);
    await storage.completeTasks(tasks.map((task) => ({ ...task, now: 3_000, chunks: 1 })));
  };
  await accept(4);
  await finish();
  await query(database.url, 'VACUUM ANALYZE users, memories, tasks');
  await accept(64);
  recorder.drain();
  await finish();
  const updates = recorder.drain().filter(({ text }) => /^UPDATE .*VALUES/s.test(text));
  expect(updates.length).toBeGreaterThanOrEqual(3);
  for (const sent of updates) {
    const plan = JSON.stringify(await explain(database.url, sent, changeByKey));
    expect(plan).toContain('"Index Cond"');
    expect(plan).not.toContain('"Join Filter"');
  }
});

test('a search of thousands of memories sends few statements, and reads few again', async () => {
  await using own = await openRecorded(await newDatabase());
  const { database, project, recorder } = own;
  const word = 'lantern';
  const sentBy = async (search: () => Promise<unknown>) => {
    recorder.drain();
    await search();
    return recorder.drain();
  };
  const given = Array.from({ length: 3_000 }, (_, n) =>
    // Equal texts are found newest first.
    imported({ createdAt: n, content: word, metadata: n === 0 ? '{"of":"ada"}' : '{}' }),
  );
  await project.import(given);
  await query(database.url, 'ANALYZE');
  await project.search(word);
  // A filter rejects all memories but the oldest.
  const filter = { metadata: [{ key: 'of', value: 'ada' }] };
  const filtered = await sentBy(async () => {
    const found = await project.search(word, { filter, limit: 1 });
    expect(found).toMatchObject([{ metadata: { of: 'ada' } }]);
  });
  expect(filtered.filter(({ text }) => text.includes('AS found')).length).toBeLessThan(20);
  const [newest] = await project.search(word, { limit: 1 });
  const removed = newest?.id ?? '';
  await project.remove(removed);
  const after = await sentBy(async () => {
    expect(await project.search(word, { limit: 1 })).not.toMatchObject([{ id: removed }]);
  });
  const reads = after.filter(({ text }) => text.startsWith('SELECT id FROM memories'));
  const rows = await Promise.all(
    reads.map(({ text, values }) => query(database.url, text, values)),
  );
  expect(rows.flat().length).toBeWithin(1, given.length / 2);
});

test('tables are analyzed soon after they have grown, and small tables are not', async () => {
  // A database of its own, because other tests analyze all tables of the shared database.
  const database = await newWholeDatabase();
  // On Citus, the workers' own autovacuum analyzes the tables.
  if (await hasCitus(database)) return database.drop();
  const open = (url: string) => openWithFastTimers(url, 100);
  await using opened = await openInSchema({ database, open });
  const project = await newProject(opened);
  await project.accept(Array.from({ length: 1_200 }, () => record()));
  const analyzed = async (count: number) => {
    // A PostgreSQL session reports its rows with a later statement, at most once a second.
    await project.save(memory());
    const text = `SELECT relname AS name, analyze_count::int AS times FROM pg_stat_user_tables
      WHERE schemaname = current_schema() AND last_analyze IS NOT NULL ORDER BY relname`;
    const rows = await query(database.url, text);
    return rows.length < count ? null : rows;
  };
  const first = await until(() => analyzed(2), { what: 'the analysis' });
  // With many users, two tables have twice as many rows, and one has grown from none.
  await project.accept(Array.from({ length: 1_200 }, (_, n) => record({ userId: `u-${n}` })));
  const second = await until(() => analyzed(3), { what: 'the analysis of the users' });
  const once = (name: string) => ({ name, times: 1 });
  expect(first).toEqual(['memories', 'tasks'].map(once));
  expect(second).toEqual(['memories', 'tasks', 'users'].map(once));
});

/** Returns the number of blocks that the statement reads. */
async function blocksRead(sent: SentStatement, settings: Settings): Promise<number> {
  const plan = await explain(database.url, sent, settings);
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

type Settings = Record<string, string>;

/**
 * Runs the statement with a generic plan and the planner settings of a connection. `grow` changes
 * the tables after the statement has been planned.
 */
async function explain(
  url: string,
  { text, values }: SentStatement,
  settings: Settings,
  grow: () => Promise<unknown> = async () => {},
) {
  const connection = createConnection({ url, purpose: 'test', settings });
  const literals = values.map((value) =>
    value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`,
  );
  const session = await connection.session();
  const execute = `EXECUTE sent (${literals.join()})`;
  const run = (...texts: string[]) => session.run(texts.map((text) => statement(text)));
  await run('SET plan_cache_mode = force_generic_plan', `PREPARE sent AS ${text}`);
  await run(`EXPLAIN ${execute}`);
  await grow();
  const [rows] = await run(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${execute}`);
  connection.close();
  const plans = rows?.[0]?.['QUERY PLAN'] as string | Plan[];
  const [{ Plan: plan }] = (typeof plans === 'string' ? JSON.parse(plans) : plans) as [Plan];
  return plan;
}

type Plan = { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } };
