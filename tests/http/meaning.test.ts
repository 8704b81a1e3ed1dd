import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type Health, MemoryClient, type SearchQuery } from '../../sdk/index.ts';
import { connectTo } from '../mcp/connect.ts';
import { newUser } from '../support/http.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { withServer } from '../support/server.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { endsModel, hangsModel } from './faulty-model.ts';

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

describe('with the built-in model', async () => {
  const preload = [join(import.meta.dir, 'faulty-model.ts')];
  const server = await withServer({ MEMORY_EMBEDDINGS: 'local' }, preload, { hungAfterMs: 6_000 });
  const search = (query: SearchQuery) => server.client.search(query);
  const embeddedSearch = (query: SearchQuery) => searchByMeaning(server.client, query);

  test('a search right after a save finds the memory by its meaning', async () => {
    const missed: unknown[] = [];
    let atOnce = 0;
    for (let n = 0; n < 50; n += 1) {
      const [content, query] = paraphrases[n % paraphrases.length] ?? ['', ''];
      const userId = `u-${Math.floor(n / paraphrases.length)}`;
      const { id } = await server.client.save({ userId, content });
      if ((await search({ userId, query })).meaning === 'used') atOnce += 1;
      const answer = await embeddedSearch({ userId, query });
      const found = answer.items.slice(0, 3).find((one) => one.id === id);
      if (found === undefined || found.matchedBy === 'words') missed.push({ n, query, answer });
    }
    expect(missed).toEqual([]);
    expect(atOnce).toBeGreaterThan(25);
  });

  test('a search right after forty saves, also of a long text, covers all of them', async () => {
    const answers: string[] = [];
    for (const userId of ['burst-1', 'burst-2', 'burst-3']) {
      const contents = Array.from({ length: 40 }, (_, n) => `Read book ${n} of the series`);
      // A memory of two chunks.
      contents.unshift('Has read them all. '.repeat(70));
      const saves = contents.map((content) => server.client.save({ userId, content }));
      await Promise.all([server.client.save({ userId, content: 'Allergic to peanuts' }), ...saves]);
      const { meaning, items } = await search({ userId, query: paraphrases[0][1] });
      answers.push(`${meaning}: ${items[0]?.content}`);
    }
    // On a busy machine, some searches are answered before.
    expect(answers).toContain('used: Allergic to peanuts');
  });

  test('an item found by meaning says so in matchedBy, has no highlights, and explains its score', async () => {
    const userId = 'explained';
    await server.client.save({ userId, content: 'Allergic to peanuts' });
    const query = 'what food should I avoid for her?';
    const { items } = await embeddedSearch({ userId, query, explain: true });
    const [first] = items;
    const shown = { snippet: 'Allergic to peanuts', highlights: [] };
    expect(first).toMatchObject({ ...shown, matchedBy: 'meaning' });
    const { words = -1, phrase = -1, date = -1, meaning = -1 } = first?.parts ?? {};
    expect([words, phrase, date]).toEqual([0, 0, 0]);
    expect(meaning).toBeCloseTo(first?.score ?? 0, 5);
    const peanuts = { userId, query: 'peanuts', explain: true };
    const byWords = await search({ ...peanuts, mode: 'words' });
    expect(byWords).toMatchObject({ meaning: 'off', items: [{ parts: { meaning: 0 } }] });
    const byMeaning = await embeddedSearch({ ...peanuts, mode: 'meaning' });
    expect(byMeaning.items).toMatchObject([{ matchedBy: 'meaning', parts: { words: 0 } }]);
    expect((await search({ userId, query })).items[0]).not.toHaveProperty('parts');
  });

  test.each([
    ['is she on any medication?', 'Takes 50 mg sertraline daily', 'Her cat has kidney disease'],
    ['what car does she own?', 'Drives a 2014 Subaru Outback', 'Her daughter started kindergarten'],
    [
      'what does the user do for a living?',
      'Works night shifts as a nurse',
      "The user's manager is called Okafor",
    ],
  ])('who the memories are about hardly counts: %s finds "%s"', async (query, content, other) => {
    const userId = crypto.randomUUID();
    for (const one of [content, other]) await server.client.save({ userId, content: one });
    const { items } = await embeddedSearch({ userId, query, mode: 'meaning' });
    expect(items[0]?.content).toBe(content);
  });

  test('an updated memory is found by its new text only, and a deleted one not at all', async () => {
    const userId = 'changing';
    const [[old, oldQuestion], [next, nextQuestion]] = paraphrases;
    const found = async (query: string) => {
      const { items } = await embeddedSearch({ userId, query, mode: 'meaning' });
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

  test('to a question about the present, the newer of two statements comes first', async () => {
    const [before, now] = [
      'User lives in Hamburg, in a rented flat',
      'User moved to Lisbon and rents an apartment there',
    ];
    const first = async (query: string, times: string[]) => {
      const userId = newUser();
      for (const [at, content] of [before, now].entries()) {
        await server.client.save({ userId, content, occurredAt: times[at] });
      }
      return (await embeddedSearch({ userId, query })).items[0]?.content;
    };
    const rising = ['2025-01-14T10:00:00Z', '2026-03-20T10:00:00Z'];
    const question = 'where does the user live?';
    expect(await first(question, rising)).toBe(now);
    expect(await first('where does she live?', rising)).toBe(now);
    expect(await first(question, [])).toBe(now);
    // Saved in another order than it happened.
    expect(await first(question, rising.toReversed())).toBe(before);
    expect(await first('where did the user live?', rising)).toBe(before);
  });

  test('a reply is found by the question that it answers, above it if asked for', async () => {
    const userId = newUser();
    const messages = [
      ['user', 'How do I get red wine out of a white shirt?'],
      ['assistant', 'Blot it, then use cold water and salt. Do not rub.'],
      ['user', 'My brother spilled red wine at the wedding'],
    ] as const;
    for (const [role, content] of messages) {
      await server.client.save({ userId, content, metadata: { role } });
    }
    const query = 'what did you recommend for the wine stain?';
    const { items } = await embeddedSearch({ userId, query });
    expect(items[0]?.content).toBe(messages[1][1]);
  });

  test('a save over MCP lists the memory that it may replace', async () => {
    const way = { transport: 'http', version: '2026-07-28' } as const;
    await using memory = await connectTo(server, way, { userId: 'replaced' });
    await memory.call('save_memory', { content: 'Prefers tea over coffee' });
    await memory.call('save_memory', { content: 'Plays tennis on Sundays' });
    const content = 'Drinks only coffee now';
    const lines = (await memory.call('save_memory', { content })).split('\n');
    expect(lines.slice(1)).toEqual([expect.stringContaining('tea over coffee')]);
  });

  test('nothing of another user or project is found', async () => {
    const [[content, question]] = paraphrases;
    const userId = 'shared-name';
    const otherKey = await server.createKey('other');
    const other = new MemoryClient({ apiKey: otherKey, baseUrl: server.url });
    await server.client.save({ userId, content });
    const { id } = await other.save({ userId, content });
    const { items } = await searchByMeaning(other, { userId, query: question });
    expect(items.map((one) => one.id)).toEqual([id]);
    expect((await other.search({ userId: 'u-0', query: question })).items).toEqual([]);
  });

  test.each([
    ['th', 'แพ้ถั่วลิสง', 'ถั่วลิสง'],
    ['ru', 'Аллергия на арахис', 'арахис'],
  ])('a query in %s, which the model does not know, is answered by words', async (...given) => {
    const [userId, content, query] = given;
    await server.client.save({ userId, content });
    const found = await search({ userId, query });
    expect(found).toMatchObject({ meaning: 'off', items: [{ matchedBy: 'words' }] });
    const refused = await rejectionOf(search({ userId, query, mode: 'meaning' }));
    expect(refused).toMatchObject({ status: 400, details: [{ field: 'query' }] });
  });

  test('/health shows the model, and that all memories have been embedded', async () => {
    await server.client.ingest.document({ userId: 'doc', data: { text: 'A handbook' } });
    const fits = (health: Health) => health.embeddings.pending === 0;
    const { embeddings } = await until(() => server.client.health(), { fits });
    expect(embeddings).toEqual({ model: 'all-MiniLM-L6-v2', pending: 0 });
  });

  // The last, because the model thread starts again.
  test.each([endsModel, hangsModel])('%s: searches use words until it restarts', async (fault) => {
    const userId = 'restarted';
    const { id } = await server.client.save({ userId, content: 'Allergic to peanuts' });
    await embeddedSearch({ userId, query: 'what food should I avoid?' });
    const begun = performance.now();
    const broken = await search({ userId, query: `peanuts ${fault}` });
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(broken).toMatchObject({ meaning: 'unavailable', items: [{ id, matchedBy: 'words' }] });
    await server.client.save({ userId, content: `Drives a red Toyota ${crypto.randomUUID()}` });
    expect((await server.client.health()).status).toBe('ok');
    const { items } = await embeddedSearch({ userId, query: 'what should she not eat?' });
    expect(items[0]).toMatchObject({ id, matchedBy: 'meaning' });
    await server.client.deleteAll({ userId });
  });
});
