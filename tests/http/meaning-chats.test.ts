import { describe, expect, test } from 'bun:test';
import { newUser } from '../support/http.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { withServer } from '../support/server.ts';

describe('chats with a model, searched with the built-in model', async () => {
  const { client } = await withServer({ MEMORY_EMBEDDINGS: 'local' });

  /** Saves each message as a memory, with the time. */
  async function saveChat(userId: string, messages: (readonly [role: string, text: string])[]) {
    for (const [at, [role, content]] of messages.entries()) {
      const occurredAt = `2026-05-08T10:0${at}:00Z`;
      await client.save({ userId, content, metadata: { role }, occurredAt });
    }
  }

  const choice = 'ok, I took the second one';
  const exchange = [
    ['user', 'Which running shoes would you buy for wide feet?'],
    ['assistant', 'For wide feet, look at the Ghost, the Triumph or the Novablast.'],
  ] as const;
  const question = 'which shoes did I choose for running?';

  test('a message is found by the exchange before it, on the same day only', async () => {
    const userId = newUser();
    await saveChat(userId, [...exchange, ['user', choice]]);
    const other = { content: choice, metadata: { role: 'user' } };
    await client.save({ userId, ...other, occurredAt: '2026-05-10T10:00:00Z' });
    await client.save({ userId, ...other });
    const { items } = await searchByMeaning(client, { userId, query: question });
    const found = items.filter(({ content }) => content === choice);
    expect(found.map(({ occurredAt }) => occurredAt?.slice(0, 10))).toEqual(['2026-05-08']);
  });

  test('the rest of a long reply is found by its words and the meaning of its beginning', async () => {
    const userId = newUser();
    const steps = 'Blot the stain, rinse the shirt with cold water and do not rub. '.repeat(16);
    const reply = `${steps}\n\nAt the end, sprinkle it with oxygen bleach.`;
    await saveChat(userId, [
      ['user', 'Thanks for yesterday'],
      ['assistant', reply],
    ]);
    const query = 'how to clean a spot of red wine with bleach?';
    const { items } = await searchByMeaning(client, { userId, query, explain: true });
    const [first] = items;
    expect(first).toMatchObject({ content: reply, matchedBy: 'both' });
    expect(first?.snippet).toEndWith('sprinkle it with oxygen bleach.');
  });
});
