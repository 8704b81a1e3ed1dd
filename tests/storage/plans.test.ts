import { afterAll, expect, test } from 'bun:test';
import { newMemoryId } from '../../server/ids.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { NewMemory } from '../../server/storage/types/memories.ts';
import type { Task } from '../../server/storage/types/tasks.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { claim, complete, imported, keyed, memory, newProject, record } from './fixtures.ts';
import { cutByUser, hasCitus, isMisread, isPlanned, oneLine, parts, partsOf } from './plans.ts';
import { openRecorded, openWithFastTimers } from './postgres.ts';

/*
 * Checks with EXPLAIN that each statement of a request touches only one part of the tables. The
 * parts are partitions by user or, in a database with Citus, shards. Also checks that no statement
 * has a form that Citus is known to reject.
 */

/** Statements that touch all parts, with the reasons. */
const wide: Record<string, { pattern: RegExp; reason: string }> = {
  id: {
    pattern:
      /^SELECT .* FROM memories .*WHERE (m\.)?project_id = \S+( AS bigint\))? AND (m\.)?id (=|IN)/,
    reason: 'a request that has only an id must find out whose memory it is',
  },
  texts: {
    pattern: /^UPDATE idempotency_keys SET version = NULL/,
    reason: 'an idempotency key is stored by its text, and memories do not list keys',
  },
  pending: {
    pattern: /^SELECT count\(\*\) AS pending FROM tasks/,
    reason: 'pending records are counted at most every 500 ms, for the queue limit of a project',
  },
  queue: {
    pattern: /(FROM|UPDATE) tasks .*run_at IS NOT NULL/,
    reason: 'the queue is processed in order of due time, in the background',
  },
  export: {
    pattern: /ORDER BY m\.user_id, m\.created_at, m\.id LIMIT/,
    reason: 'an export and a measurement walk through all users of a project',
  },
  users: {
    pattern: /FROM users (AS u )?WHERE|expires_at <= .* GROUP BY user_id/,
    reason: 'users are listed by their ids',
  },
  tasks: {
    pattern: /FROM tasks AS t CROSS JOIN memories/,
    reason: 'tasks are listed by age',
  },
  expiry: { pattern: /expires_at <= .* ORDER BY expires_at/, reason: 'cleanup in the background' },
  sweep: { pattern: /^DELETE FROM idempotency_keys/, reason: 'cleanup in the background' },
};

const database = await newDatabase();
if (!(await hasCitus(database))) {
  await (await openStorage(database.url)).close();
  await cutByUser(database);
}
const recorded = await openRecorded(database);
const { project, recorder, storage } = recorded;
afterAll(() => recorded[Symbol.asyncDispose]());

const userId = 'ada';
const made = (fields: Partial<NewMemory> = {}) => memory({ id: newMemoryId(), userId, ...fields });
const madeRecord = (fields: Partial<NewMemory> = {}) =>
  record({ id: newMemoryId(), userId, ...fields });

/** Returns the names of the operation's statements that touch more than one part. */
async function wideStatements(operation: () => Promise<unknown>): Promise<string[]> {
  recorder.drain();
  await operation();
  const sent = recorder.drain().filter(isPlanned);
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.filter(isMisread)).toEqual([]);
  const found = new Set<string>();
  for (const statement of sent) {
    if ((await partsOf(database, statement)) <= 1) continue;
    const text = oneLine(statement);
    const [name] = Object.entries(wide).find(([, { pattern }]) => pattern.test(text)) ?? [text];
    found.add(name);
  }
  return [...found].sort();
}

/** Each is changed by one case at most. */
const [kept, updated, sought, removed] = [made(), made(), made(), made()];
for (const one of [kept, updated, sought, removed]) await project.save(one);
await project.save(made(), { idempotency: keyed('again') });
await project.save(made({ externalId: 'old' }));
await project.accept(Array.from({ length: 4 }, () => madeRecord()));
const tasks = await claim(storage, { limit: 3, leaseMs: 600_000 });
const [task, completed, failed] = tasks as [Task, Task, Task];
const unused = await newProject({ storage });
const named = () => ['a', 'b', 'c'].map((externalId) => madeRecord({ externalId }));

/** Returns a case whose preparation may touch all parts. */
const after = (prepare: () => Promise<unknown>, run: () => Promise<unknown>) => async () => {
  await prepare();
  recorder.drain();
  return run();
};

const cases: [name: string, wide: string[], run: () => Promise<unknown>][] = [
  ['a save', [], () => project.save(made(), { idempotency: keyed('save') })],
  ['a repeated save', ['id'], () => project.save(made(), { idempotency: keyed('again') })],
  ['a save under an external id', [], () => project.save(made({ externalId: 'new' }))],
  ['a save that replaces a memory', [], () => project.save(made({ externalId: 'old' }))],
  ['an update', ['id'], () => project.update(updated.id, { content: 'new' }, underKey('update'))],
  ['a get', ['id'], () => project.get(kept.id)],
  ['statuses', ['id'], () => project.statuses([kept.id, updated.id])],
  ['a list', [], () => project.page(userId)],
  ['a filtered list', [], () => project.list(userId, { filter: { type: 'ticket' } })],
  ['a search', [], search],
  [
    'a search after a delete',
    [],
    after(() => search().then(() => project.remove(sought.id)), search),
  ],
  ['records', ['pending'], () => unused.accept([madeRecord(), madeRecord(), madeRecord()])],
  [
    'records that replace memories',
    [],
    after(
      () => project.accept(named()),
      () => project.accept(named(), underKey('records')),
    ),
  ],
  ['an import', ['id'], () => project.import([1, 2].map(() => imported(made())))],
  ['a delete', ['id', 'texts'], () => project.remove(removed.id, underKey('delete'))],
  ['a claim', ['queue'], () => claim(storage, { limit: 1 })],
  ['a heartbeat', [], beat],
  ['the texts of claimed tasks', ['id'], () => storage.readTexts([task])],
  ['a completion', [], () => complete(storage, completed)],
  [
    'a failure',
    [],
    () => storage.failTask({ ...failed, now: 2_000, retryAt: null, errorMessage: '' }),
  ],
  ['an export', ['export'], () => project.exportPage()],
  ['a list of users', ['users'], () => project.users()],
  ['a list of failed tasks', ['tasks'], () => project.tasks('failed')],
  ['a measurement of a project', ['export'], () => project.measure()],
  ['a measurement of a user', [], () => project.measure({ onlyUserId: userId })],
  ['maintenance', ['expiry', 'sweep'], () => storage.maintain({ now: 1_000, elapsedMs: 0 })],
  ['an erasure', ['texts'], () => project.erase(userId, underKey('erase'))],
];

function underKey(key: string) {
  return { idempotency: keyed(key) };
}

function search() {
  return project.search('hello', { userId });
}

async function beat(): Promise<void> {
  const own = await openWithFastTimers(recorder.url, 50);
  await project.accept([madeRecord()]);
  await claim(own, { owner: 'beating', limit: 1 });
  const where = `WHERE lease_owner = 'beating'`;
  await query(database.url, `UPDATE tasks SET leased_until = 9e15 ${where}`);
  recorder.drain();
  const left = () => query(database.url, `SELECT FROM tasks ${where} AND leased_until = 9e15`);
  await until(async () => (await left()).length === 0).finally(() => own.close());
}

test.each(cases)(
  `only one of ${parts} parts is touched by %s (exceptions: %j)`,
  async (...given) => {
    const [, expected, run] = given;
    expect(await wideStatements(run)).toEqual(expected);
  },
);

test('a statement without a user touches all parts', async () => {
  const text = 'SELECT * FROM memories WHERE id = $1';
  expect(await partsOf(database, { text, values: ['mem_1'] })).toBeGreaterThanOrEqual(parts);
});
