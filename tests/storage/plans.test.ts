import { afterAll, describe, expect, test } from 'bun:test';
import { newMemoryId } from '../../server/ids.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { NewMemory } from '../../server/storage/types/memories.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { claimOne, complete, imported, keyed, memory, record } from './fixtures.ts';
import {
  cutByUser,
  isDistributed,
  isMisread,
  isPlanned,
  oneLine,
  parts,
  partsOf,
} from './plans.ts';
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
    reason: 'tasks are listed by their age',
  },
  expiry: { pattern: /expires_at <= .* ORDER BY expires_at/, reason: 'cleanup in the background' },
  sweep: { pattern: /^DELETE FROM idempotency_keys/, reason: 'cleanup in the background' },
};

const database = await newDatabase();
if (!(await isDistributed(database))) {
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

async function saved(fields: Partial<NewMemory> = {}): Promise<string> {
  const one = made(fields);
  await project.save(one);
  return one.id;
}

async function accepted() {
  await project.accept([madeRecord()]);
  return claimOne(storage);
}

type Case = [name: string, wide: string[], prepare: () => Promise<() => Promise<unknown>>];

const requests: Case[] = [
  ['a save', [], async () => () => project.save(made(), { idempotency: keyed('save') })],
  [
    'a repeated save',
    ['id'],
    async () => {
      await project.save(made(), { idempotency: keyed('again') });
      return () => project.save(made(), { idempotency: keyed('again') });
    },
  ],
  [
    'a save under an external id',
    [],
    async () => () => project.save(made({ externalId: 'new' }), { idempotency: keyed('named') }),
  ],
  [
    'a save that replaces a memory',
    [],
    async () => {
      await saved({ externalId: 'old' });
      return () => project.save(made({ externalId: 'old' }));
    },
  ],
  [
    'an update',
    ['id'],
    async () => {
      const id = await saved();
      return () => project.update(id, { content: 'new' }, { idempotency: keyed('update') });
    },
  ],
  [
    'a get',
    ['id'],
    async () => {
      const id = await saved();
      return () => project.get(id);
    },
  ],
  [
    'statuses',
    ['id'],
    async () => {
      const ids = [await saved(), await saved()];
      return () => project.statuses(ids);
    },
  ],
  ['a list', [], async () => () => project.page(userId)],
  ['a filtered list', [], async () => () => project.list(userId, { filter: { type: 'ticket' } })],
  ['a search', [], async () => () => project.search('hello', { userId })],
  [
    'a search after a delete',
    [],
    async () => {
      const id = await saved();
      await project.search('hello', { userId });
      await project.remove(id);
      return () => project.search('hello', { userId });
    },
  ],
  [
    'records',
    ['pending'],
    async () => () => project.accept([madeRecord(), madeRecord(), madeRecord()]),
  ],
  [
    'records that replace memories',
    [],
    async () => {
      const named = () => ['a', 'b', 'c'].map((externalId) => madeRecord({ externalId }));
      await project.accept(named());
      return () => project.accept(named(), { idempotency: keyed('records') });
    },
  ],
  [
    'an import',
    ['id'],
    async () => () => project.import([1, 2].map(() => imported({ id: newMemoryId(), userId }))),
  ],
  [
    'a delete',
    ['id', 'texts'],
    async () => {
      const id = await saved();
      return () => project.remove(id, { idempotency: keyed('delete') });
    },
  ],
  [
    'an erasure',
    ['texts'],
    async () => {
      await saved();
      return () => project.erase(userId, { idempotency: keyed('erase') });
    },
  ],
];

const background: Case[] = [
  [
    'a claim',
    ['queue'],
    async () => {
      await project.accept([madeRecord()]);
      return () => storage.claimTasks(claimOf(2_000));
    },
  ],
  [
    'a heartbeat',
    [],
    async () => {
      const own = await openWithFastTimers(recorder.url, 50);
      await project.accept([madeRecord()]);
      await claimOne(own, { owner: 'beating' });
      const where = `WHERE lease_owner = 'beating'`;
      await query(database.url, `UPDATE tasks SET leased_until = 9e15 ${where}`);
      const left = () => query(database.url, `SELECT FROM tasks ${where} AND leased_until = 9e15`);
      return () => until(async () => (await left()).length === 0).finally(() => own.close());
    },
  ],
  [
    'the texts of claimed tasks',
    ['id'],
    async () => {
      const task = await accepted();
      return () => storage.readTexts([task]);
    },
  ],
  [
    'a completion',
    [],
    async () => {
      const task = await accepted();
      return () => complete(storage, task);
    },
  ],
  [
    'a failure',
    [],
    async () => {
      const task = await accepted();
      const failure = { now: 2_000, retryAt: null, errorMessage: 'it failed' };
      return () => storage.failTask({ ...task, ...failure });
    },
  ],
  ['a lookup of the next task', ['queue'], async () => () => storage.nextTaskAt()],
  ['an export', ['export'], async () => () => project.exportPage()],
  ['a list of users', ['users'], async () => () => project.users()],
  ['a list of failed tasks', ['tasks'], async () => () => project.tasks('failed')],
  [
    'a measurement of a project',
    ['export'],
    async () => {
      await saved();
      return () => project.measure();
    },
  ],
  ['a measurement of a user', [], async () => () => project.measure({ onlyUserId: userId })],
  [
    'maintenance',
    ['expiry', 'sweep'],
    async () => () => storage.maintain({ now: 1_000, elapsedMs: 0 }),
  ],
];

function claimOf(now: number) {
  return { owner: 'plans', now, leaseMs: 30_000, horizon: now + 60_000, limit: 10 };
}

describe(`only one of ${parts} parts is touched by`, () => {
  test.each(requests)('%s (exceptions: %j)', async (_, expected, prepare) => {
    expect(await wideStatements(await prepare())).toEqual(expected);
  });
});

describe('only one part is touched in the background by', () => {
  test.each(background)('%s (exceptions: %j)', async (_, expected, prepare) => {
    expect(await wideStatements(await prepare())).toEqual(expected);
  });
});

test('a statement without a user touches all parts', async () => {
  const text = 'SELECT * FROM memories WHERE id = $1';
  expect(await partsOf(database, { text, values: ['mem_1'] })).toBeGreaterThanOrEqual(8);
});
