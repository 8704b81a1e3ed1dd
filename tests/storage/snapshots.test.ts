import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readSeries } from '../../server/metrics/counts.ts';
import type { UserRef } from '../../server/storage/project-storage.ts';
import { query } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { until } from '../support/until.ts';
import {
  claim,
  complete,
  imported,
  memory,
  newProject,
  type Opened,
  type Project,
  record,
} from './fixtures.ts';
import { openInSchema } from './postgres.ts';
import { openInFolder } from './sqlite.ts';

/* The stored search indexes: they change no result, and do not outlive the text in them. */

type Row = Record<string, unknown>;
/** `run` runs a statement on a connection of its own. */
type Tables = Opened & { run(sql: string): Promise<Row[]> };

async function openSqlite(): Promise<Tables> {
  const opened = await openInFolder();
  const run = async (sql: string) => {
    using db = new Database(opened.path);
    db.run('PRAGMA busy_timeout = 5000');
    return db.prepare<Row, []>(sql).all();
  };
  return Object.assign(opened, { run });
}

async function openPostgres(): Promise<Tables> {
  const opened = await openInSchema();
  return Object.assign(opened, { run: (sql: string) => query(opened.url, sql) });
}

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
const random = createRandom(seed);
const perUser = 300;
const rounds = Number(process.env.SNAPSHOT_ROUNDS ?? 3);
const queriesPerRound = 25;
const words =
  'lantern harbour kettle walrus zeppelin garden winter coffee doctor invoice refund delivery ' +
  'running runs ran city cities São Zürich naïve 東京 метро tickets ticket dark mode ana: ben:';

function text(most = 30): string {
  const vocabulary = words.split(' ');
  const chosen = Array.from({ length: random.between(1, most) }, () => random.pick(vocabulary));
  return chosen.join(random.pick([' ', ', ', '\n']));
}

function some(count: number, fields: Parameters<typeof imported>[0]) {
  return Array.from({ length: count }, () =>
    imported({ content: text(), createdAt: random.between(1, 900), ...fields }),
  );
}

/** The number of searches so far that began with a snapshot. */
function restores(): number {
  return readSeries('memory_search_index_restores_total')[0]?.counts[0] ?? 0;
}

describe.each([
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
])(`%s: a snapshot (seed ${seed})`, (_, open) => {
  const userId = 'ada';
  const users = [userId, 'ben'];
  let opened: Tables;
  let project: Project;

  beforeAll(async () => {
    opened = await open();
  });
  beforeEach(async () => {
    project = await newProject(opened);
  });
  afterAll(() => opened.dispose());

  async function storedUsers(): Promise<unknown[]> {
    const stored = `SELECT DISTINCT user_id FROM snapshots WHERE project_id = ${project.id}`;
    return (await opened.run(`${stored} ORDER BY user_id`)).map((row) => row.user_id);
  }

  /** Stores the snapshots of all users who need one. Returns these users. */
  async function storeAll(): Promise<string[]> {
    const found: string[] = [];
    let user: UserRef | null = null;
    do {
      user = await opened.storage.storeNextSnapshot(user);
      if (user?.projectId === project.id) found.push(user.userId);
    } while (user !== null);
    const areStored = async () => {
      const stored = await storedUsers();
      return found.every((name) => stored.includes(name));
    };
    await until(areStored, { what: 'the snapshots' });
    return found;
  }

  const search = (name: string, asked: string) =>
    project.search(asked, { userId: name, limit: 20, explain: true });

  /** Adds memories, among them one that is not searchable yet. */
  async function add(name: string, count: number): Promise<void> {
    await project.import(some(count, { userId: name }));
    await project.accept([record({ userId: name, content: text(300) }), record({ userId: name })]);
    const [last, ...others] = await claim(opened.storage);
    for (const task of others) await complete(opened.storage, task);
    if (last !== undefined) await opened.storage.releaseTask(last);
  }

  /** Removes text, which deletes the snapshot. */
  async function remove(name: string): Promise<void> {
    const [one, other] = (await project.page(name, { limit: 2 })).items;
    if (one !== undefined) await project.remove(one.id);
    if (other !== undefined) await project.update(other.id, { content: text() });
    if (random.chance(0.5)) await project.erase(name);
  }

  async function answersAfterRestart(queries: string[]): Promise<unknown[]> {
    await opened.reopen();
    const found: unknown[] = [];
    for (const asked of queries) {
      for (const name of users) found.push(await search(name, asked));
    }
    return found;
  }

  test(
    'changes no result of a search, whatever has changed since',
    async () => {
      const before = restores();
      for (let round = 0; round < rounds; round += 1) {
        for (const name of users) {
          if (round % 3 === 2) await remove(name);
          await add(name, round === 0 ? perUser : 20);
        }
        await storeAll();
        for (const name of users) {
          if (random.chance(0.7)) await add(name, random.between(1, 40));
          if (random.chance(0.1)) await remove(name);
        }
        const queries = Array.from({ length: queriesPerRound }, () => text(6));
        const found = await answersAfterRestart(queries);
        await opened.run('DELETE FROM snapshots');
        expect(await answersAfterRestart(queries)).toEqual(found);
        expect(found.flat().length).toBeGreaterThan(queriesPerRound);
      }
      expect(restores()).toBeGreaterThan(before);
    },
    60_000 * rounds,
  );

  test('is stored for users with many memories, and replaced after many changes', async () => {
    await project.import(some(199, { userId: 'few' }));
    await project.import(some(200, { userId }));
    expect(await storeAll()).toEqual([userId]);
    expect(await storeAll()).toEqual([]);
    for (let n = 0; n < 199; n += 1) await project.save(memory({ userId }));
    expect(await storeAll()).toEqual([]);
    await project.save(memory({ userId }));
    expect(await storeAll()).toEqual([userId]);
  });

  test('is stored by the search that has built the index', async () => {
    await project.import(some(200, { userId }));
    await search(userId, 'lantern');
    await until(async () => (await storedUsers()).length > 0, { what: 'the snapshot' });
    expect(await storeAll()).toEqual([]);
  });

  test.each<[string, string]>([
    ['is damaged', `UPDATE snapshots SET data = CAST('damaged index' AS TYPE)`],
    ['is cut off', 'UPDATE snapshots SET data = substr(data, 1, 100)'],
    ['is empty', `UPDATE snapshots SET data = CAST('' AS TYPE)`],
    ['is that of another change', 'UPDATE users SET snapshot_change = snapshot_change - 1'],
  ])('that %s is not used', async (_, damage) => {
    await project.import(some(perUser, { userId, content: 'a lantern' }));
    await storeAll();
    await opened.run(damage.replace('TYPE', open === openSqlite ? 'blob' : 'bytea'));
    await opened.reopen();
    const before = restores();
    expect(await search(userId, 'lantern')).toHaveLength(20);
    expect(restores()).toBe(before);
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['a memory is deleted', (id) => project.remove(id)],
    ['the text of a memory changes', (id) => project.update(id, { content: 'other' })],
    ['its user is erased', () => project.erase(userId)],
    ['a memory expires', () => opened.storage.maintain({ now: 5_000, elapsedMs: 0 })],
    [
      'an expired memory is imported again',
      (id) => project.import([imported({ id })], { at: 5_000 }),
    ],
    [
      'a memory is ingested again',
      () => project.accept([record({ userId, source: 's', externalId: 'e' })]),
    ],
  ])('is deleted when %s', async (_, remove) => {
    const fields = { source: 's', externalId: 'e', expiresAt: 5_000 };
    const first = imported({ userId, content: 'a lantern', ...fields });
    await project.import([first, ...some(perUser, { userId })]);
    await project.import(some(perUser, { userId: 'other' }));
    await storeAll();
    expect(await storedUsers()).toEqual([userId, 'other']);
    await remove(first.id);
    expect(await storedUsers()).toEqual(['other']);
  });
});
