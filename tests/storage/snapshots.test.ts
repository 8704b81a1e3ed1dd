import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readSeries } from '../../server/metrics/counts.ts';
import type { UserRef } from '../../server/storage/types/project.ts';
import { createRandom } from '../support/random.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { databases } from './databases.ts';
import { embed, meaningOf, textOf, useModel } from './embedded.ts';
import { claim, complete, imported, newProject, type Project, record } from './fixtures.ts';

/*
 * What is stored of search indexes, the snapshots of words and the parts with vectors: it changes
 * no result, and does not outlive the text in it.
 */

const random = createRandom(Number(process.env.SNAPSHOT_SEED ?? 20_261_128));
/** Enough for a snapshot. */
const perUser = 220;
const rounds = Number(process.env.SNAPSHOT_ROUNDS ?? 2);
const queriesPerRound = 2;

const text = (most = 30) => textOf(random, random.between(1, most));

function some(count: number, fields: Parameters<typeof imported>[0]) {
  return Array.from({ length: count }, () =>
    imported({ content: text(), createdAt: random.between(1, 900), ...fields }),
  );
}

/** The number of searches so far that began with a snapshot. */
function restores(): number {
  return readSeries('memory_search_index_restores_total')[0]?.counts[0] ?? 0;
}

/** Damages to what is stored of a user, each in a table with the column `user_id`. */
const damages: [what: string, update: string][] = [
  ['a damaged index', `snapshots SET data = CAST('damaged index' AS TYPE)`],
  ['an index that is cut off', 'snapshots SET data = substr(data, 1, 100)'],
  ['an empty index', `snapshots SET data = CAST('' AS TYPE)`],
  ['an index of another change', 'users SET snapshot_change = snapshot_change - 1'],
  ['damaged vectors', `vector_parts SET data = CAST('damaged vectors' AS TYPE)`],
  ['vectors that are cut off', 'vector_parts SET data = substr(data, 1, 1000)'],
  ['vectors of other changes', 'vector_parts SET after_change = after_change - 1'],
  ['vectors of another model', 'vector_parts SET model_id = model_id + 1'],
];

describe.each(databases)('%s: a snapshot', (database, open) => {
  const userId = 'ada';
  const users = [userId, 'ben'];
  let opened: Awaited<ReturnType<typeof open>>;
  let project: Project;
  let modelId: number;

  beforeAll(async () => {
    opened = await open();
    modelId = await useModel(opened);
  });
  beforeEach(async () => {
    project = await newProject(opened);
  });
  afterAll(() => opened.dispose());

  const run = (sql: string) => rowsOf(opened.url, sql);

  async function storedUsers(table: 'snapshots' | 'vector_parts' = 'snapshots') {
    const stored = `SELECT DISTINCT user_id FROM ${table} WHERE project_id = ${project.id}`;
    return (await run(`${stored} ORDER BY user_id`)).map((row) => row.user_id);
  }

  const ofUser = (name: string) => `project_id = ${project.id} AND user_id = '${name}'`;
  /** The changes that the user's parts end with. */
  async function partsOf(name: string): Promise<number[]> {
    const rows = await run(`SELECT last_change FROM vector_parts WHERE ${ofUser(name)}`);
    return rows.map((row) => Number(row.last_change)).sort((a, b) => a - b);
  }

  async function sweep(): Promise<string[]> {
    const found: string[] = [];
    const next = (after: UserRef | null) => opened.storage.nextUnstored({ after });
    for (let user = await next(null); user !== null; user = await next(user)) {
      await opened.storage.storeSnapshotOf({ owner: user });
      if (user.projectId === project.id) found.push(user.userId);
    }
    return found;
  }

  /** Stores what is to be stored of all users. Returns these users. */
  async function storeAll(): Promise<string[]> {
    const found = await sweep();
    await until(async () => (await sweep()).length === 0, { what: 'the snapshots' });
    return found;
  }

  const embedAll = (name: string, limit?: number) =>
    embed(opened, { projectId: project.id, userId: name, modelId }, limit);

  const search = (name: string, asked: string, alone: boolean | null = null) => {
    const meaning = alone === null ? null : meaningOf(modelId, asked, alone);
    return project.search(asked, { userId: name, limit: 20, explain: true, meaning });
  };

  /** Adds memories, among them one that is not searchable yet. */
  async function add(name: string, count: number): Promise<void> {
    await project.import(some(count, { userId: name }));
    await project.accept([record({ userId: name, content: text(300) }), record({ userId: name })]);
    const [last, ...others] = await claim(opened.storage);
    for (const task of others) await complete(opened.storage, task);
    if (last !== undefined) await opened.storage.releaseTask(last);
  }

  /** Removes text, which deletes the snapshot. Never erases all users: one must be found. */
  async function remove(name: string): Promise<void> {
    const [one, other] = (await project.page(name, { limit: 2 })).items;
    if (one !== undefined) await project.remove(one.id);
    if (other !== undefined) await project.update(other.id, { content: text() });
    if (name !== userId && random.chance(0.5)) await project.erase(name);
  }

  async function answers(queries: string[]): Promise<unknown[]> {
    const asked = queries.flatMap((query) => users.map((name) => [name, query] as const));
    const found: unknown[] = [];
    for (const one of asked) {
      for (const alone of [null, false, true]) found.push(await search(...one, alone));
    }
    return found;
  }

  test(
    'changes no result of a search, whatever has changed since',
    async () => {
      const before = restores();
      for (let round = 0; round < rounds; round += 1) {
        for (const name of users) {
          if (round % 2 === 1) await remove(name);
          await add(name, round === 0 ? perUser : 20);
          if (random.chance(0.8)) await embedAll(name);
        }
        await storeAll();
        for (const name of users) {
          if (random.chance(0.7)) await add(name, random.between(1, 40));
          if (name !== userId && random.chance(0.4)) await remove(name);
          if (random.chance(0.5)) await embedAll(name, random.between(1, 30));
        }
        const queries = Array.from({ length: queriesPerRound }, () => text(6));
        await opened.reopen();
        const found = await answers(queries);
        await run('DELETE FROM snapshots');
        await run('DELETE FROM vector_parts');
        await opened.reopen();
        expect(await answers(queries)).toEqual(found);
        expect(found.flat().length).toBeGreaterThan(queriesPerRound);
      }
      expect(restores()).toBeGreaterThan(before);
    },
    60_000 * rounds,
  );

  test('is stored for users with many memories, and replaced after many changes', async () => {
    await project.import(some(199, { userId: 'few' }));
    const one = imported({ userId });
    await project.import([one, ...some(199, { userId })]);
    expect(await storeAll()).toEqual([userId]);
    for (let n = 1; n <= 200; n += 1) {
      expect(await sweep()).toEqual([]);
      await project.update(one.id, { expiresAt: 9e9 + n });
    }
    expect(await storeAll()).toEqual([userId]);
  });

  test('is stored by the search that has built it, with the vectors that were read', async () => {
    await project.import(some(199, { userId: 'few' }));
    await search('few', 'lantern');
    await project.import(some(200, { userId }));
    await search(userId, 'lantern');
    await until(async () => (await storedUsers()).length > 0, { what: 'the snapshot' });
    expect(await storedUsers()).toEqual([userId]);
    expect(await storeAll()).toEqual([]);
    await embedAll(userId);
    await search(userId, 'lantern', true);
    await until(async () => (await storedUsers('vector_parts')).length > 0, { what: 'the part' });
    expect(await storeAll()).toEqual([]);
    await run('DELETE FROM vectors');
    await opened.reopen();
    expect(await search(userId, 'lantern', true)).not.toEqual([]);
  });

  test('with vectors is stored again once a quarter of them is missing in it', async () => {
    await project.import(some(400, { userId }));
    expect(await storeAll()).toEqual([userId]);
    await embedAll(userId, 399);
    expect(await storeAll()).toEqual([]);
    await embedAll(userId);
    expect(await storeAll()).toEqual([userId]);
    await project.import(some(199, { userId }));
    await embedAll(userId);
    expect(await storeAll()).toEqual([]);
    expect(await partsOf(userId)).toHaveLength(1);
    await project.import(some(1, { userId }));
    await embedAll(userId);
    expect(await storeAll()).toEqual([userId]);
    expect(await partsOf(userId)).toHaveLength(2);
  });

  test('with vectors loses only the parts with memories that have changed', async () => {
    for (const expiresAt of [5_000, null, 5_000]) {
      await project.import([...some(499, { userId }), imported({ userId, expiresAt })]);
    }
    await embedAll(userId);
    await storeAll();
    const stored = await partsOf(userId);
    expect(stored).toHaveLength(3);
    const [newest] = (await project.page(userId, { limit: 1 })).items;
    await project.import([imported({ userId, createdAt: 1, content: 'walrus' })]);
    await project.update(newest?.id ?? '', { expiresAt: 9e9 });
    const left = await partsOf(userId);
    expect(left).toHaveLength(2);
    expect(stored).toEqual(expect.arrayContaining(left));
    await opened.reopen();
    await search(userId, 'lantern', true);
    await until(async () => (await partsOf(userId)).length === 3, { what: 'the part' });
    expect(await partsOf(userId)).toEqual(stored);
    expect(await storedUsers()).toEqual([userId]);
    await opened.storage.maintain({ now: 5_000, elapsedMs: 0 });
    expect(await partsOf(userId)).toEqual(stored.slice(1, 2));
  });

  test('with vectors of another model is not used, and replaced', async () => {
    const select = `SELECT model_id AS model FROM vector_parts WHERE project_id = ${project.id}`;
    const stored = async () => (await run(select)).map(({ model }) => Number(model));
    await project.import(some(perUser, { userId }));
    await embedAll(userId);
    await storeAll();
    expect(await stored()).toEqual([modelId]);
    modelId = await useModel(opened, crypto.randomUUID());
    await embedAll(userId, 10);
    await opened.reopen();
    await search(userId, 'lantern', true);
    await embedAll(userId);
    await storeAll();
    expect(await stored()).toEqual([modelId]);
  });

  test('that is damaged is not used', async () => {
    const found: unknown[] = [];
    for (const [name] of damages) {
      await project.import(some(perUser, { userId: name }));
      await embedAll(name);
    }
    await storeAll();
    for (const [name, update] of damages) {
      found.push(await search(name, 'lantern', true));
      const sql = update.replace('TYPE', database === 'SQLite' ? 'blob' : 'bytea');
      await run(`UPDATE ${sql} WHERE ${ofUser(name)}`);
    }
    await opened.reopen();
    for (const [at, [name, update]] of damages.entries()) {
      const before = restores();
      expect<unknown>(await search(name, 'lantern', true)).toEqual(found[at]);
      expect([name, restores() - before]).toEqual([name, /^vector_parts/.test(update) ? 1 : 0]);
    }
  });

  test('is deleted when text is removed, of its user only', async () => {
    const removals: Record<string, (id: string, name: string) => Promise<unknown>> = {
      'a memory is deleted': (id) => project.remove(id),
      'the text of a memory changes': (id) => project.update(id, { content: 'other' }),
      'the metadata of a memory changes': (id) => project.update(id, { metadata: '{"a":1}' }),
      'its user is erased': (_, name) => project.erase(name),
      'an expired memory is imported again': (id) =>
        project.import([imported({ id })], { at: 5_000 }),
      'a memory is ingested again': (_, name) =>
        project.accept([record({ userId: name, source: name, externalId: 'e' })]),
      'a memory expires': () => opened.storage.maintain({ now: 5_000, elapsedMs: 0 }),
    };
    const firsts = new Map<string, string>();
    for (const name in removals) {
      const expiresAt = /expire/.test(name) ? 5_000 : null;
      const fields = { userId: name, source: name, externalId: 'e', expiresAt };
      const first = imported({ content: 'a lantern', ...fields });
      firsts.set(name, first.id);
      await project.import([first, ...some(perUser, { userId: name })]);
      await embedAll(name);
    }
    await storeAll();
    const left = Object.keys(removals).sort();
    const stored = async () => [await storedUsers(), await storedUsers('vector_parts')];
    for (const [name, remove] of Object.entries(removals)) {
      await remove(firsts.get(name) ?? '', name);
      left.splice(left.indexOf(name), 1);
      expect(await stored()).toEqual([left, left]);
    }
  });
});
