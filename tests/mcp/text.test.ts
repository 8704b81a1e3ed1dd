import { expect, test } from 'bun:test';
import { leaseRecord } from '../support/queue.ts';
import { withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';
import { connectTo, type Way } from './connect.ts';

const server = await withProject();

const way: Way = { transport: 'http', version: '2026-07-28' };

test('a save lists at most three similar memories, as in docs/limits.md', async () => {
  const [userId, content] = ['ada', 'Prefers dark mode'];
  for (let count = 0; count < 6; count += 1) await server.client.save({ userId, content });
  await using memory = await connectTo(server, way, { userId });
  const saved = await memory.call('save_memory', { content });
  expect(saved).toStartWith('Saved: ');
  expect(saved.match(/^Similar: /gm)).toHaveLength(3);
});

test('a memory that is not complete is listed with its status', async () => {
  const leased = await leaseRecord(server);
  await using reader = await connectTo(server, way, { userId: leased.userId });
  const head = `[${leased.memoryId}] ${new Date().toISOString().slice(0, 10)} document "leased"`;
  expect(await reader.call('list_memories')).toStartWith(`${head} (processing): leased text`);
  await leased.fail('no luck');
  expect(await reader.call('list_memories')).toStartWith(`${head} (failed): leased text`);
});

test('a document is listed and found with its title, or else with its external id', async () => {
  const userId = 'reader';
  const document = { ...importable(userId), type: 'document', content: 'Opens at nine' } as const;
  const title = 'Opening\nhours';
  const items = [
    { ...document, id: 'mem_name', externalId: `docs/${'b'.repeat(80)}.md` },
    { ...document, id: 'mem_title', externalId: 'a.md', metadata: { title } },
  ];
  await server.client.import({ items });
  await using reader = await connectTo(server, way, { userId });
  const listed = await reader.call('list_memories');
  expect(listed).toContain(`document crm "docs/${'b'.repeat(54)}…": Opens at nine`);
  expect(listed).toContain('document crm "Opening hours": Opens at nine');
  const found = await reader.call('search_memories', { query: 'opens' });
  expect(found).toContain('document crm "Opening hours": Opens at nine');
});

/** Texts with invisible characters, and what a model receives. */
const hidden: [name: string, stored: string, shown: string][] = [
  ['bidirectional overrides and isolates', 'a\u202eb\u202cc\u2066d\u2069e\u200ff', 'abcdef'],
  ['zero-width characters', '\ufeffa\u200bb\u2060c\u00add', 'abcd'],
  ['tags', `a${String.fromCodePoint(0xe0001, 0xe006f, 0xe0062, 0xe007f)}b`, 'ab'],
  ['fillers', 'a\u3164b\uffa0c\u115fd', 'abcd'],
  ['joiners that join nothing', '\u200da \u200c\u200db\u200d\u200dc', 'a bc'],
  ['variation selectors that encode text', '☺\ufe0f\ufe01\u{e0110}', '☺\ufe0f'],
  ['joined emoji', '👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 #\ufe0f⃣', '👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 #\ufe0f⃣'],
  ['Persian and Hindi', 'می\u200cخواهم क्\u200dष', 'می\u200cخواهم क्\u200dष'],
  ['an ideographic variant', '葛\u{e0100}', '葛\u{e0100}'],
];

test.each(hidden)('invisible characters: %s', async (name, stored, shown) => {
  const userId = `hidden ${name}`;
  const { id } = await server.client.save({ userId, content: stored, metadata: { note: stored } });
  await using memory = await connectTo(server, way, { userId });
  const text = await memory.call('get_memory', { id });
  expect(text).toEndWith(`metadata ${JSON.stringify({ note: shown })}\n\n${shown}`);
  expect(await memory.call('list_memories')).toContain(`: ${shown}\n`);
  expect((await server.client.get(id)).content).toBe(stored);
});
