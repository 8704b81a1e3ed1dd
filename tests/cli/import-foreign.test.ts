import { expect, test } from 'bun:test';
import { newUser } from '../support/http.ts';
import { expectRan, summaryOf, withMemory } from './command.ts';

/* Imports exports of mem0 and ChatGPT. transcripts/import.txt shows a whole one of each. */

const { server, memory } = await withMemory();

const importFor = (userId: string, ...conversations: object[]) => {
  const argv = ['import', '--from', 'chatgpt', '--user', userId, '-'];
  return memory(argv, { stdin: JSON.stringify(conversations) });
};
const importMem0 = (text: string) => memory(['import', '--from', 'mem0', '-'], { stdin: text });
const imported = (count: number, skipped = 0) => summaryOf({ imported: count, skipped, failed: 0 });
const all = async (userId: string) =>
  (await server.client.list({ userId, order: 'asc', limit: 100 })).items;
const contentsOf = async (userId: string) => (await all(userId)).map(({ content }) => content);

const at = 1_771_000_000.5;
const node = (id: string, parent: string | null, message: object | null) => ({
  [id]: { id, parent, children: [], message },
});
const say = (role: string, ...parts: unknown[]) => ({
  author: { role, name: null, metadata: {} },
  content: { content_type: 'text', parts },
  create_time: at,
  weight: 1,
  recipient: 'all',
  metadata: {},
});
const image = { content_type: 'image_asset_pointer', asset_pointer: 'file-service://1' };
const conversation = {
  title: 'Moving to Bern',
  create_time: at,
  update_time: at,
  conversation_id: 'c-1',
  current_node: 'f',
  mapping: {
    ...node('root', null, null),
    ...node('s', 'root', say('system', 'be kind')),
    ...node('a', 's', say('user', 'I moved to Bern', image)),
    ...node('b', 'a', say('assistant', 'first answer')),
    ...node('c', 'a', { ...say('assistant', 'search("Bern")'), recipient: 'web' }),
    ...node('d', 'c', say('tool', 'results')),
    ...node('t', 'd', {
      ...say('assistant'),
      content: { content_type: 'thoughts', thoughts: [] },
    }),
    ...node('f', 't', say('assistant', 'How do you like it?')),
  },
};
const empty = { ...conversation, conversation_id: 'c-2', mapping: node('root', null, null) };
/** A conversation of these messages, with the ids 0, 1, and so on. */
const conversationOf = (...messages: object[]) => {
  const nodes = messages.map((one, n) => node(`${n}`, n === 0 ? null : `${n - 1}`, one));
  const mapping: object = Object.assign({}, ...nodes);
  return { ...conversation, mapping, current_node: `${messages.length - 1}` };
};

test('makes a memory of each visible message, and counts all other data', async () => {
  const userId = newUser();
  expectRan(
    await importFor(userId, conversation, empty),
    0,
    imported(2),
    'Not imported: messages on abandoned branches: 1, hidden messages: 1, images and files: 1, ' +
      'tool messages: 2, thoughts: 1.\n',
  );
  const fields = { type: 'memory', source: 'chatgpt', occurredAt: '2026-02-13T16:26:40.500Z' };
  expect(await all(userId)).toMatchObject([
    {
      ...fields,
      content: 'I moved to Bern\n[image]',
      externalId: 'c-1#a',
      metadata: { role: 'user', conversation: 'Moving to Bern' },
    },
    {
      ...fields,
      content: 'How do you like it?',
      externalId: 'c-1#f',
      metadata: { role: 'assistant', conversation: 'Moving to Bern' },
    },
  ]);
});

test('a second run adds only new messages', async () => {
  const userId = newUser();
  const { f: _, ...shorter } = conversation.mapping;
  const earlier = { ...conversation, mapping: shorter, current_node: 'd' };
  await importFor(userId, earlier);
  const [before] = await all(userId);
  expectRan(await importFor(userId, conversation, empty), 0, imported(1, 1));
  const after = await all(userId);
  expect(after.map(({ externalId }) => externalId)).toEqual(['c-1#a', 'c-1#f']);
  expect(after[0]).toEqual(before ?? expect.anything());
});

test('keeps the order of messages, even of those with the same time', async () => {
  const userId = newUser();
  const contents = Array.from({ length: 100 }, (_, n) => `message ${n}`);
  await importFor(userId, conversationOf(...contents.map((content) => say('user', content))));
  expect(await contentsOf(userId)).toEqual(contents);
});

test('a search prefers what the user said to the replies', async () => {
  const userId = newUser();
  await importFor(userId, conversation);
  const { items } = await server.client.search({ userId, query: 'Where did I move?' });
  expect(items[0]?.externalId).toBe('c-1#a');
});

test('imports the branch that ends at the current node, even if another branch is newer', async () => {
  const mapping = {
    ...node('root', null, null),
    ...node('a', 'root', say('user', 'question')),
    ...node('b', 'a', say('assistant', 'shown answer')),
    ...node('c', 'a', say('assistant', 'other answer')),
  };
  const importWith = async (end: string | undefined) => {
    const userId = newUser();
    await importFor(userId, { ...conversation, mapping, current_node: end });
    return contentsOf(userId);
  };
  expect(await importWith('b')).toEqual(['question', 'shown answer']);
  // Without a current node, the branch of the last node is used.
  expect(await importWith(undefined)).toEqual(['question', 'other answer']);
});

test('omits and counts messages that ChatGPT does not show', async () => {
  const userId = newUser();
  const metadata = { is_visually_hidden_from_conversation: true };
  const one = conversationOf(
    { ...say('user', 'about me'), metadata },
    { ...say('user', 'without weight'), weight: 0 },
    { ...say('assistant'), content: { content_type: 'model_editable_context' } },
    say('user', 'Likes tea'),
  );
  const { stderr } = await importFor(userId, { ...one, title: null });
  expect(stderr).toMatch(/^Not imported: .*hidden messages: 2\b/m);
  expect(stderr).toMatch(/^Not imported: .*model_editable_context: 1\b/m);
  expect(await contentsOf(userId)).toEqual(['Likes tea']);
});

test('dates a message without a time by the message before it, or by its conversation', async () => {
  const importWith = async (times: (number | null)[], createTime: number | null) => {
    const userId = newUser();
    const messages = times.map((time) => ({ ...say('user', 'dated'), create_time: time }));
    const dated = { create_time: createTime, update_time: at + 60 };
    await importFor(userId, { ...conversationOf(...messages), ...dated });
    return (await all(userId)).map(({ occurredAt }) => occurredAt?.slice(14, 19));
  };
  expect(await importWith([at + 5, null, at + 7], at)).toEqual(['26:45', '26:45', '26:47']);
  expect(await importWith([null, at + 7], at)).toEqual(['26:40', '26:47']);
  expect(await importWith([null], null)).toEqual(['27:40']);
  // Times that are not in the years 0 to 9999.
  expect(await importWith([1e15, at + 7], -7e10)).toEqual(['27:40', '26:47']);
  expect(await importWith([at + 7, -1e15, 3e11], 1e15)).toEqual(['26:47', '26:47', '26:47']);
});

test('names a message by the id of a conversation that has no conversation_id', async () => {
  const userId = newUser();
  const { conversation_id: _, ...older } = conversationOf(say('user', 'Likes tea'));
  for (const title of ['First', 'Second']) await importFor(userId, { ...older, id: 'c-9', title });
  expect(await all(userId)).toMatchObject([{ externalId: 'c-9#0' }]);
});

test('spoken messages and those without a recipient are imported, and nothing else is said', async () => {
  const userId = newUser();
  const spoken = { content_type: 'audio_transcription', text: 'Likes tea', direction: 'in' };
  const { recipient: _, ...message } = say('user', 'Likes coffee');
  const { stderr } = await importFor(userId, conversationOf(say('user', spoken), message));
  expect(stderr).toBe(imported(2));
  expect(await contentsOf(userId)).toEqual(['Likes tea', 'Likes coffee']);
});

test('invalid items, ids, times and metadata are reported', async () => {
  const userId = newUser();
  const items = [
    null,
    { user_id: userId, memory: 'a', id: 5 },
    { user_id: userId, memory: 'b', created_at: 'yesterday' },
    { user_id: userId, memory: 'c', metadata: 'blue' },
    { user_id: userId, memory: 'd', metadata: ['blue'] },
  ];
  const { code, stderr } = await importMem0(JSON.stringify(items));
  expect(stderr).toContain(summaryOf({ imported: 0, skipped: 0, failed: 5 }));
  expect(stderr.match(/^item \d: \w+/gm)).toEqual([
    'item 1: must',
    'item 2: externalId',
    'item 3: createdAt',
    'item 4: metadata',
    'item 5: metadata',
  ]);
  expect(code).toBe(1);
});

test('lines without an id are recognized by their text after the file has grown', async () => {
  const userId = newUser();
  const linesOf = (texts: string[]) =>
    JSON.stringify(texts.map((memory) => ({ user_id: userId, memory })));
  await importMem0(linesOf(['a', 'b']));
  expect((await importMem0(linesOf(['c', 'a', 'b']))).stderr).toContain(imported(1, 2));
  expect((await all(userId)).map(({ content }) => content).sort()).toEqual(['a', 'b', 'c']);
});

test('memories with the same text and different ids are all imported', async () => {
  const userId = newUser();
  const list = ['1', '2'].map((id) => ({ id, memory: 'Likes tea', user_id: userId }));
  expectRan(await importMem0(JSON.stringify(list)), 0, imported(2));
  expect((await all(userId)).map(({ externalId }) => externalId).sort()).toEqual(['1', '2']);
});

test('ids stay the same across versions, so that a later one skips known memories', async () => {
  const item = { id: '1', memory: 'Likes tea', user_id: 'pinned' };
  await importMem0(JSON.stringify([item]));
  expect((await all('pinned')).map(({ id }) => id).toSorted()).toEqual([
    'mem_a1d85e4d17ec6b6dc44a0f5d8a7197ba',
  ]);
});
