import { describe, expect, test } from 'bun:test';
import type { SearchAnswer } from '../../sdk/contract/search.ts';
import { MemoryClient } from '../../sdk/index.ts';
import { ask, bodyOf, expectError } from '../support/http.ts';
import { type TestServer, withProject, withServer } from '../support/server.ts';
import { until } from '../support/until.ts';

/* Searches with the built-in model, and without a model. */

/** Memories and questions that share no word. */
const paraphrases = [
  ['Allergic to peanuts', 'what food should I avoid for her?'],
  ['Drives a red Toyota', 'which car does he own?'],
  ['Her wedding is in October', 'when is she getting married?'],
  ['Works as a nurse at the hospital', 'what is her job?'],
  ['Has two dogs and a cat', 'does he keep any pets?'],
  ['Moved from Berlin to Lisbon', 'which city does she live in now?'],
  ['Plays the violin in an orchestra', 'what musical instrument does he know?'],
  ['Broke his leg while skiing', 'was he ever injured?'],
  ['Wakes up at five every morning', 'is she an early riser?'],
  ['Owes his brother 300 dollars', 'who has he borrowed money from?'],
] as const;

type Query = Record<string, string>;

async function search(server: TestServer, query: string, more: Query = {}): Promise<SearchAnswer> {
  const parameters = new URLSearchParams({ userId: 'u', query, ...more });
  return bodyOf(await ask(server, 'GET', `/v1/memories/search?${parameters}`), 200);
}

/** Repeats the search until all memories have been embedded, which takes a busy machine longer. */
async function embeddedSearch(server: TestServer, query: string, more: Query) {
  return until(async () => {
    const answer = await search(server, query, more);
    return answer.meaning === 'used' ? answer : null;
  });
}

describe('without a model', async () => {
  const server = await withProject();

  test('a search uses words alone and says so', async () => {
    await server.client.save({ userId: 'u', content: 'Allergic to peanuts' });
    const plain = await search(server, 'peanuts');
    expect(plain).toMatchObject({ meaning: 'off', items: [{ matchedBy: 'words' }] });
    expect(await search(server, 'peanuts', { mode: 'words' })).toEqual(plain);
    expect(await search(server, 'peanuts', { mode: 'auto' })).toEqual(plain);
  });
});

describe('with the built-in model', async () => {
  const server = await withServer({ MEMORY_EMBEDDINGS: 'local' });

  test('a search right after a save finds the memory by its meaning', async () => {
    const missed: unknown[] = [];
    let atOnce = 0;
    for (let n = 0; n < 50; n += 1) {
      const [content, query] = paraphrases[n % paraphrases.length] ?? ['', ''];
      const userId = `u-${Math.floor(n / paraphrases.length)}`;
      const { id } = await server.client.save({ userId, content });
      if ((await search(server, query, { userId })).meaning === 'used') atOnce += 1;
      const answer = await embeddedSearch(server, query, { userId });
      const found = answer.items.slice(0, 3).find((one) => one.id === id);
      if (found === undefined || found.matchedBy === 'words') missed.push({ n, query, answer });
    }
    expect(missed).toEqual([]);
    expect(atOnce).toBeGreaterThan(25);
  });

  test('an item found by meaning says so in matchedBy, has no highlights, and explains its score', async () => {
    const userId = 'explained';
    await server.client.save({ userId, content: 'Allergic to peanuts' });
    const query = 'what food should I avoid for her?';
    const { items } = await embeddedSearch(server, query, { userId, explain: 'true' });
    const [first] = items;
    expect(first).toMatchObject({
      snippet: 'Allergic to peanuts',
      highlights: [],
      matchedBy: 'meaning',
    });
    const { words = -1, phrase = -1, date = -1, meaning = -1 } = first?.parts ?? {};
    expect([words, phrase, date]).toEqual([0, 0, 0]);
    expect(meaning).toBeCloseTo(first?.score ?? 0, 5);
    const byWords = await search(server, 'peanuts', { userId, mode: 'words', explain: 'true' });
    expect(byWords).toMatchObject({ meaning: 'off', items: [{ parts: { meaning: 0 } }] });
    const alone = { userId, mode: 'meaning', explain: 'true' };
    const byMeaning = await embeddedSearch(server, 'peanuts', alone);
    expect(byMeaning.items).toMatchObject([{ matchedBy: 'meaning', parts: { words: 0 } }]);
    expect((await search(server, query, { userId })).items[0]).not.toHaveProperty('parts');
  });

  test('an updated memory is found by its new text only, and a deleted one not at all', async () => {
    const userId = 'changing';
    const [[old, oldQuestion], [next, nextQuestion]] = paraphrases;
    const found = async (query: string) => {
      const { items } = await embeddedSearch(server, query, { userId, mode: 'meaning' });
      return items.map(({ id }) => id);
    };
    const { id } = await server.client.save({ userId, content: old });
    expect(await found(oldQuestion)).toEqual([id]);
    await server.client.update(id, { metadata: { tag: 'health' } });
    expect(await found(oldQuestion)).toEqual([id]);
    await server.client.update(id, { content: next });
    expect(await found(oldQuestion)).toEqual([]);
    expect(await found(nextQuestion)).toEqual([id]);
    await server.client.delete(id);
    expect(await found(nextQuestion)).toEqual([]);
    await server.client.save({ userId, content: old });
    await server.client.deleteAll({ userId });
    expect(await found(oldQuestion)).toEqual([]);
  });

  test('nothing of another user or project is found', async () => {
    const [[content, question]] = paraphrases;
    const userId = 'shared-name';
    const otherKey = await server.createKey('other');
    const other = new MemoryClient({ apiKey: otherKey, baseUrl: server.url });
    await server.client.save({ userId, content });
    const { id } = await other.save({ userId, content });
    const own = { ...server, key: otherKey };
    const { items } = await embeddedSearch(own, question, { userId });
    expect(items.map((one) => one.id)).toEqual([id]);
    expect((await search(own, question, { userId: 'u-0' })).items).toEqual([]);
  });

  test.each([
    ['th', 'แพ้ถั่วลิสง', 'ถั่วลิสง'],
    ['tr', 'Kırmızı bir araba kullanıyor', 'hangi arabayı kullanıyor, kırmızı mı?'],
  ])('a query in %s, which the model does not know, is answered by words', async (...given) => {
    const [userId, content, query] = given;
    await server.client.save({ userId, content });
    const found = await search(server, query, { userId });
    expect(found).toMatchObject({ meaning: 'off', items: [{ matchedBy: 'words' }] });
    const parameters = new URLSearchParams({ userId, mode: 'meaning', query });
    const path = `/v1/memories/search?${parameters}`;
    expectError(await ask(server, 'GET', path), 400, 'invalid_request', 'query');
  });

  test('/health shows the model, and that all memories have been embedded', async () => {
    await server.client.ingest.document({ userId: 'doc', data: { text: 'A handbook' } });
    const { embeddings } = await until(async () => {
      const health = await server.client.health();
      return health.embeddings.pending === 0 ? health : null;
    });
    expect(embeddings).toEqual({ model: 'all-MiniLM-L6-v2', pending: 0 });
  });
});
