import { expect, test } from 'bun:test';
import { createRandom } from '../support/random.ts';
import { openBoth } from './databases.ts';
import { embed, meaningOf, textOf, useModel } from './embedded.ts';
import { claim, complete, imported, type Opened, type Project, record } from './fixtures.ts';

/*
 * Both backends return the same ids, order, scores and snippets for the same data and vectors.
 * SEARCH_QUERIES makes the test longer.
 */

const seed = 20_261_122;
const memories = 150;
const queries = Number(process.env.SEARCH_QUERIES ?? 10);

const { opened, projects } = await openBoth();
const modelIds = [await useModel(opened[0]), await useModel(opened[1])] as const;

async function embedAll(...userIds: string[]): Promise<void> {
  for (const at of [0, 1] as const) {
    for (const userId of userIds) {
      await embed(opened[at], { projectId: projects[at].id, userId, modelId: modelIds[at] });
    }
  }
}

async function inBoth(work: (project: Project, opened: Opened) => Promise<unknown>) {
  for (const index of [0, 1] as const) await work(projects[index], opened[index]);
}

test('searches of both backends are equal, even after changes', async () => {
  const random = createRandom(seed);
  const text = (count: number) => textOf(random, count);
  const given = Array.from({ length: memories }, (_, n) =>
    imported({
      userId: random.pick(['ada', 'ben']),
      content: text(random.between(1, 60)),
      createdAt: n * 1_000,
      metadata: random.chance(0.2) ? JSON.stringify({ title: text(2), author: 'ada' }) : '{}',
    }),
  );
  const questions = Array.from({ length: queries }, () => {
    const query = text(random.between(1, 5)).slice(0, random.between(3, 40)).trim() || 'dark';
    return random.chance(0.2) ? `"${query.replaceAll('"', '')}"` : query;
  });

  async function expectSame({ isEmbedded = true } = {}): Promise<void> {
    let found = 0;
    let byMeaning = 0;
    for (const query of questions) {
      for (const userId of ['ada', 'ben']) {
        for (const alone of [null, false, true]) {
          const search = (at: 0 | 1) => {
            const meaning = alone === null ? null : meaningOf(modelIds[at], query, alone);
            return projects[at].search(query, { userId, limit: 20, meaning, explain: true });
          };
          const [one, other] = await Promise.all([search(0), search(1)]);
          expect(other).toEqual(one);
          found += one.length;
          if (one.some(({ matchedBy }) => matchedBy !== 'words')) byMeaning += 1;
        }
      }
    }
    // Ensures that the searches returned results to compare.
    expect(found).toBeGreaterThan(queries);
    expect(byMeaning > queries).toBe(isEmbedded);
  }

  await inBoth((project) => project.import(given));
  await expectSame({ isEmbedded: false });
  await embedAll('ada', 'ben');
  await expectSame();
  const changed = given.filter((_, n) => n % 7 === 0).map(({ id }) => ({ id, content: text(9) }));
  const removed = given.filter((_, n) => n % 11 === 3).map(({ id }) => id);
  const records = Array.from({ length: 20 }, () => record({ userId: 'ada', content: text(400) }));
  await inBoth(async (project, { storage }) => {
    for (const { id, content } of changed) await project.update(id, { content }, { at: 9_000_000 });
    for (const id of removed) await project.remove(id);
    await project.accept(records, { at: 9_000_001 });
    for (const task of await claim(storage)) await complete(storage, task);
  });
  // The changed memories have no vectors now.
  await expectSame();
  await embedAll('ada');
  await expectSame();
});
