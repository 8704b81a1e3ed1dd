import { expect, test } from 'bun:test';
import type { SearchAnswer } from '../../sdk/contract/search.ts';
import { ask, bodyOf } from '../support/http.ts';
import { marked } from '../support/marked.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

async function search(query: string, more: Record<string, string>) {
  const parameters = new URLSearchParams({ query, ...more });
  const answer = await ask(server, 'GET', `/v1/memories/search?${parameters}`);
  return bodyOf<SearchAnswer>(answer, 200);
}

test('returns ten whole memories, best first, with score and snippet', async () => {
  for (let n = 0; n < 12; n += 1) {
    await server.client.save({ userId: 'many', content: `Zeppelin number ${n}` });
  }
  const { items } = await search('zeppelin', { userId: 'many' });
  expect(items.length).toBe(10);
  const scores = items.map(({ score }) => score);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  const [best] = items;
  expect(best?.content).toBe('Zeppelin number 11');
  expect(best?.snippet).toBe('Zeppelin number 11');
  expect(best?.highlights).toEqual([{ start: 0, end: 8 }]);
  expect(best).not.toHaveProperty('parts');
  expect(best).toMatchObject(await server.client.get(best?.id ?? ''));
  expect((await search('zeppelin', { userId: 'many', limit: '12' })).items.length).toBe(12);
});

test('a document is found by its title, and by its last words', async () => {
  const text = `${'A sentence about nothing. '.repeat(2_000)}The end is a walrus.`;
  const data = { text, title: 'Handbook of moustaches' };
  const { memoryId } = await server.client.ingest.document({ userId: 'doc', data });
  await server.client.waitUntilComplete(memoryId);
  const byTitle = await search('moustache handbook', { userId: 'doc' });
  const byEnd = await search('walrus', { userId: 'doc' });
  expect(byTitle.items.map(({ id }) => id)).toEqual([memoryId]);
  expect(byEnd.items.map(marked)[0]).toContain('«walrus»');
});

test.each([
  ['the whole rest', 'Blot it with cold water. Do not rub.', ''],
  ['its first words', `Blot it with cold water.${' Do not rub it.'.repeat(30)}`, '…'],
])('a question in a chat is shown with %s of the reply', async (userId, reply, end) => {
  const messages = [
    { role: 'user', content: 'How does 𝒽oney get out of a jumper?' },
    { role: 'assistant', content: reply },
  ];
  const { memoryId } = await server.client.ingest.chat({ userId, messages });
  await server.client.waitUntilComplete(memoryId);
  const { items } = await search('jumper', { userId });
  const [found] = items.map(marked);
  expect(found).toStartWith('user: How does 𝒽oney get out of a «jumper»? assistant: Blot it with');
  expect(found).toMatch(end === '' ? /Do not rub\.$/ : / (?:Do|not|rub|it\.)…$/);
  expect(items[0]?.snippet.length).toBeLessThanOrEqual(221);
});

test('the messages of a day are found, and first the replies if they are asked for', async () => {
  const userId = 'days';
  for (const [at, role, content] of [
    ['2026-05-08T10:00:00Z', 'assistant', 'Rye, because it carries more yeast.'],
    ['2026-05-08T10:01:00Z', 'user', 'And for a cake?'],
    ['2026-06-20T10:00:00Z', 'assistant', 'Rub it with salt.'],
  ] as const) {
    await server.client.save({ userId, content, metadata: { role }, occurredAt: at });
  }
  const found = async (query: string) => {
    const { items } = await search(query, { userId });
    return items.map(({ content }) => content);
  };
  const [reply, message] = ['Rye, because it carries more yeast.', 'And for a cake?'];
  expect(await found('what did we talk about on 8 May 2026?')).toEqual([message, reply]);
  expect(await found('what did you recommend on 8 May 2026?')).toEqual([reply, message]);
});

// Ordered together, the marks of such a document would take half a minute.
test.each(['\u0f71\u0f72\u0f74', '\u0323ﾞ'])(
  'a document with any number of the marks %j on a letter is found',
  async (marks) => {
    const text = `ཀ${marks.repeat(1_500_000 / marks.length)} yak`;
    const { memoryId } = await server.client.ingest.document({ userId: marks, data: { text } });
    await server.client.waitUntilComplete(memoryId);
    const { items } = await search('yak', { userId: marks });
    expect(items.map(({ id }) => id)).toEqual([memoryId]);
  },
);
