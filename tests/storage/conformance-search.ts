import { expect, test } from 'bun:test';
import { claim, claimOne, complete, imported, memory, newProject, record } from './fixtures.ts';
import { opened, project } from './suite.ts';

/** Tests searches, except for the ranking, which the search-index tests cover. */
export function testSearch(): void {
  /** Returns the ids of the results. The first search loads the user's index into memory. */
  async function found(query: string, more: Parameters<typeof project.search>[1] = {}) {
    return (await project.search(query, { limit: 100, ...more })).map(({ id }) => id);
  }

  test('returns large memories whole, in order', async () => {
    // Longer than what is read with the other memories.
    const large = (word: string) => `lantern ${'and more '.repeat(8_000)}${word}`;
    const contents = [large('first'), 'lantern', large('second')];
    await project.import(contents.map((content, createdAt) => imported({ content, createdAt })));
    const search = (limit: number) => project.search('lantern', { limit });
    const ranked = (await search(3)).map(({ content }) => content);
    expect(ranked.toSorted()).toEqual(contents.toSorted());
    expect((await search(1)).map(({ content }) => content)).toEqual(ranked.slice(0, 1));
  });

  test('prefers memories of the days that the query is about', async () => {
    const now = Date.parse('2023-10-04T12:00Z');
    const visit = { content: 'went to the dentist' };
    const [early, late] = [
      memory({ ...visit, occurredAt: Date.parse('2023-05-08') }),
      memory({ ...visit, occurredAt: Date.parse('2023-09-28') }),
    ];
    await project.save(early);
    await project.save(late);
    await project.save(memory(visit));
    const first = async (query: string) => (await found(query, { now }))[0];
    expect(await first('dentist on 8 May 2023')).toBe(early.id);
    expect(await first('dentist last week')).toBe(late.id);
    await project.update(early.id, { occurredAt: Date.parse('2023-09-26') });
    await project.update(late.id, { occurredAt: null });
    expect(await first('dentist last week')).toBe(early.id);
  });

  test('does not see a memory with the same id in another project', async () => {
    const other = await newProject(opened);
    const one = memory({ content: 'lantern' });
    await project.save(one);
    // Several changes give the other project the higher change number.
    for (let count = 0; count < 3; count += 1) await other.save(memory());
    await other.accept([record({ id: one.id, content: 'zeppelin' })]);
    await complete(opened.storage, await claimOne(opened.storage));
    expect(await other.search('zeppelin')).toHaveLength(1);
    expect(await found('zeppelin')).toEqual([]);
    expect(await found('lantern')).toEqual([one.id]);
  });

  test('forgets each of several deleted memories of thousands', async () => {
    const createdAt = (n: number) => Math.floor(n / 700);
    const given = Array.from({ length: 2_500 }, (_, n) =>
      imported({ createdAt: createdAt(n), content: n % 100 === 0 ? 'lantern' : 'candle' }),
    );
    await project.import(given);
    const expected = new Set(await found('lantern'));
    expect(expected.size).toBe(25);
    // The oldest and the newest, and some between them.
    const ids = (await project.list()).map(({ id }) => id);
    for (const id of [ids[0], ids.at(-1), ...[...expected].slice(3, 9)]) {
      if (id === undefined) throw new Error('no memory is left');
      await project.remove(id);
      expected.delete(id);
    }
    const saved = memory({ content: 'lantern' });
    await project.save(saved);
    expect(new Set(await found('lantern'))).toEqual(expected.add(saved.id));
  });

  test('is consistent with the responses to many concurrent writers of one user', async () => {
    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let n = 0; n < 10; n += 1) {
          // Unlike numbers, hashes do not match each other as typos.
          const hash = (of: string) => `word${Bun.hash(`${of} ${client} ${n}`).toString(36)}`;
          const [word, newer] = [hash('old'), hash('new')];
          const given = memory({ content: word });
          await project.save(given);
          expect(await found(`"${word}"`)).toEqual([given.id]);
          if (n % 3 === 0) continue;
          if (n % 3 === 1) await project.remove(given.id);
          else await project.update(given.id, { content: newer });
          expect(await found(`"${word}"`)).toEqual([]);
          expect(await found(`"${newer}"`)).toEqual(n % 3 === 1 ? [] : [given.id]);
        }
      }),
    );
    expect(await project.list()).toHaveLength(56);
  });

  test('finds records of one user id in two projects that are completed together', async () => {
    const other = await newProject(opened);
    for (const own of [project, other]) {
      await own.accept([record({ content: 'lantern' })]);
      expect(await own.search('lantern')).toEqual([]);
    }
    const tasks = await claim(opened.storage);
    const results = tasks.map((task) => ({ ...task, now: 3_000, chunks: 1 }));
    expect(await opened.storage.completeTasks(results)).toEqual([true, true]);
    for (const own of [project, other]) expect(await own.search('lantern')).toHaveLength(1);
  });

  test('does not return a deleted memory whose id another user now has', async () => {
    const other = 'u1667';
    const [given, kept] = [memory({ content: 'lantern' }), memory({ content: 'lantern' })];
    for (const one of [given, kept]) await project.save(one);
    expect(await found('lantern')).toHaveLength(2);
    await project.remove(given.id);
    await project.import([imported({ id: given.id, userId: other, content: 'lantern' })]);
    expect(await found('lantern')).toEqual([kept.id]);
    expect(await found('lantern', { userId: other })).toEqual([given.id]);
  });
}
