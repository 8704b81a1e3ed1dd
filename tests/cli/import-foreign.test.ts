import { expect, test } from 'bun:test';
import { newUser } from '../support/http.ts';
import { expectRan, summaryOf, withMemory } from './command.ts';

/* Imports exports of other services. transcripts/import.txt shows a whole one of each. */

const { server, memory } = await withMemory();

const imported = (count: number, skipped = 0) => summaryOf({ imported: count, skipped, failed: 0 });

/** A user, and the imports for this user. */
function newImports(userId = newUser()) {
  const send = (from: string, items: unknown[]) =>
    memory(['import', '--from', from, '--user', userId, '-'], { stdin: JSON.stringify(items) });
  const all = async () => (await server.client.list({ userId, order: 'asc', limit: 100 })).items;
  return {
    userId,
    chatgpt: (...conversations: object[]) => send('chatgpt', conversations),
    mem0: (...items: unknown[]) => send('mem0', items),
    zep: (...items: unknown[]) => send('zep', items),
    all,
    contents: async () => (await all()).map(({ content }) => content),
    externalIds: async () => (await all()).map(({ externalId }) => externalId),
  };
}

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
};
/** A conversation of these messages, with the ids 0, 1, and so on. */
const conversationOf = (...messages: object[]) => {
  const nodes = messages.map((one, n) => node(`${n}`, n === 0 ? null : `${n - 1}`, one));
  const mapping: object = Object.assign({}, ...nodes);
  return { ...conversation, mapping, current_node: `${messages.length - 1}` };
};

test('makes a memory of each visible message, and counts all other data', async () => {
  const { chatgpt, all } = newImports();
  const metadata = { is_visually_hidden_from_conversation: true };
  const one = conversationOf(
    say('system', 'be kind'),
    { ...say('user', 'about me'), metadata },
    { ...say('user', 'without weight'), weight: 0 },
    { ...say('assistant'), content: { content_type: 'model_editable_context' } },
    say('user', 'I moved to Bern', image),
    { ...say('assistant', 'search("Bern")'), recipient: 'web' },
    say('tool', 'results'),
    { ...say('assistant'), content: { content_type: 'thoughts', thoughts: [] } },
    say('assistant', 'How do you like it?'),
  );
  const empty = { ...conversation, conversation_id: 'c-2', mapping: node('root', null, null) };
  const others =
    'Not imported: hidden messages: 3, model_editable_context: 1, images and files: 1, ' +
    'tool messages: 2, thoughts: 1.\n';
  expectRan(await chatgpt(one, empty), 0, imported(2), others);
  const fields = { type: 'memory', source: 'chatgpt', occurredAt: '2026-02-13T16:26:40.500Z' };
  const memoryOf = (externalId: string, role: string, content: string) => {
    return { ...fields, externalId, content, metadata: { role, conversation: 'Moving to Bern' } };
  };
  expect(await all()).toMatchObject([
    memoryOf('c-1#4', 'user', 'I moved to Bern\n[image]'),
    memoryOf('c-1#8', 'assistant', 'How do you like it?'),
  ]);
});

test('a second run adds only new messages', async () => {
  const { chatgpt, all, externalIds } = newImports();
  const messages = ['I moved to Bern', 'I like it'].map((text) => say('user', text));
  await chatgpt(conversationOf(...messages.slice(0, 1)));
  const [before] = await all();
  expectRan(await chatgpt(conversationOf(...messages)), 0, imported(1, 1));
  expect(await externalIds()).toEqual(['c-1#0', 'c-1#1']);
  expect((await all())[0]).toEqual(before ?? expect.anything());
});

test('keeps the order of messages, even of those with the same time', async () => {
  const { chatgpt, contents } = newImports();
  const texts = Array.from({ length: 100 }, (_, n) => `message ${n}`);
  await chatgpt(conversationOf(...texts.map((content) => say('user', content))));
  expect(await contents()).toEqual(texts);
});

test('a search prefers what the user said to the replies', async () => {
  const { chatgpt, userId } = newImports();
  await chatgpt(
    conversationOf(say('user', 'I moved to Bern'), say('assistant', 'I moved to Bern')),
  );
  const { items } = await server.client.search({ userId, query: 'Where did I move?' });
  expect(items.map(({ externalId }) => externalId)).toEqual(['c-1#0', 'c-1#1']);
});

test.each([
  ['that ends at the current node', 'b', 'shown answer'],
  ['of the last node if there is no current one', undefined, 'other answer'],
])('imports the branch %s', async (_, current_node, answer) => {
  const { chatgpt, contents } = newImports();
  const mapping = {
    ...node('root', null, null),
    ...node('a', 'root', say('user', 'question')),
    ...node('b', 'a', say('assistant', 'shown answer')),
    ...node('c', 'a', say('assistant', 'other answer')),
  };
  await chatgpt({ ...conversation, mapping, current_node });
  expect(await contents()).toEqual(['question', answer]);
});

test.each([
  [[at + 5, null, at + 7], at, ['26:45', '26:45', '26:47']],
  [[null, at + 7], at, ['26:40', '26:47']],
  [[null], null, ['27:40']],
  // Times that are not in the years 0 to 9999.
  [[1e15, at + 7], -7e10, ['27:40', '26:47']],
  [[at + 7, -1e15, 3e11], 1e15, ['26:47', '26:47', '26:47']],
])('messages at %j in a conversation of %d are dated', async (times, create_time, dates) => {
  const { chatgpt, all } = newImports();
  const messages = times.map((time) => ({ ...say('user', 'dated'), create_time: time }));
  await chatgpt({ ...conversationOf(...messages), create_time, update_time: at + 60 });
  expect((await all()).map(({ occurredAt }) => occurredAt?.slice(14, 19))).toEqual(dates);
});

test('names a message by the id of a conversation that has no conversation_id', async () => {
  const { chatgpt, externalIds } = newImports();
  const { conversation_id: _, ...older } = conversationOf(say('user', 'Likes tea'));
  for (const title of ['First', 'Second']) await chatgpt({ ...older, id: 'c-9', title });
  expect(await externalIds()).toEqual(['c-9#0']);
});

test('spoken messages and those without a recipient are imported, and nothing else is said', async () => {
  const { chatgpt, contents } = newImports();
  const spoken = { content_type: 'audio_transcription', text: 'Likes tea', direction: 'in' };
  const { recipient: _, ...message } = say('user', 'Likes coffee');
  const { stderr } = await chatgpt({
    ...conversationOf(say('user', spoken), message),
    title: null,
  });
  expect(stderr).toBe(imported(2));
  expect(await contents()).toEqual(['Likes tea', 'Likes coffee']);
});

test('invalid items, ids, times and metadata are reported', async () => {
  const ran = await newImports().mem0(
    null,
    { memory: 'a', id: 5 },
    { memory: 'b', created_at: 'yesterday' },
    { memory: 'c', metadata: 'blue' },
    { memory: 'd', metadata: ['blue'] },
  );
  expectRan(ran, 1, summaryOf({ imported: 0, skipped: 0, failed: 5 }));
  const fields = ['must', 'externalId', 'createdAt', 'metadata', 'metadata'];
  const reported = Array.from(ran.stderr.matchAll(/^item \d: (\w+)/gm), ([, field = '']) => field);
  expect(reported).toEqual(fields);
});

test('lines without an id are recognized by their text after the file has grown', async () => {
  const { mem0, contents } = newImports();
  const send = (...texts: string[]) => mem0(...texts.map((memory) => ({ memory })));
  await send('a', 'b');
  expectRan(await send('c', 'a', 'b'), 0, imported(1, 2));
  expect((await contents()).sort()).toEqual(['a', 'b', 'c']);
});

test('memories with the same text and different ids are all imported', async () => {
  const { mem0, externalIds } = newImports();
  expectRan(await mem0(...['1', '2'].map((id) => ({ id, memory: 'Likes tea' }))), 0, imported(2));
  expect((await externalIds()).sort()).toEqual(['1', '2']);
});

test('ids stay the same across versions, so that a later one skips known memories', async () => {
  const { mem0, all } = newImports('pinned');
  await mem0({ id: '1', memory: 'Likes tea', user_id: 'pinned' });
  expect((await all()).map(({ id }) => id)).toEqual(['mem_a1d85e4d17ec6b6dc44a0f5d8a7197ba']);
});

test('counts a field with the name of a property of every object', async () => {
  const { zep } = newImports();
  const { stderr } = await zep({ uuid: 'e-1', content: 'In Bern', constructor: 'a builder' });
  expect(stderr).toBe(`${imported(1)}Not imported: constructor: 1.\n`);
});
