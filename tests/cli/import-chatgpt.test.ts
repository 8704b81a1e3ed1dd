import { describe, expect, test } from 'bun:test';
import { newUser } from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { expectRan, memoryAt, summaryOf } from './command.ts';

/* Imports messages from an export of ChatGPT. */

const server = await withProject();
const memory = memoryAt(server);

const importFrom = (format: string, text: string, ...more: string[]) =>
  memory(['import', '--from', format, ...more, '-'], { stdin: text });
const imported = (count: number, skipped = 0) => summaryOf({ imported: count, skipped, failed: 0 });
const all = async (userId: string) =>
  (await server.client.list({ userId, order: 'asc', limit: 100 })).items;

describe('memory import --from chatgpt', () => {
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
  const whole = {
    ...conversation,
    current_node: 'a',
    mapping: { ...node('root', null, null), ...node('a', 'root', say('user', 'Likes tea')) },
  };
  const text = JSON.stringify([conversation, empty]);

  test('says nothing about lost data if none is lost', async () => {
    const ran = await importFrom('chatgpt', JSON.stringify([whole]), '--user', newUser());
    expect(ran.stderr).toContain(imported(1));
    expect(ran.stderr).not.toContain('Not imported');
  });

  test('makes a memory of each visible message, and counts all other data', async () => {
    const userId = newUser();
    expectRan(
      await importFrom('chatgpt', text, '--user', userId),
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
    await importFrom('chatgpt', JSON.stringify([earlier]), '--user', userId);
    const [before] = await all(userId);
    expectRan(await importFrom('chatgpt', text, '--user', userId), 0, imported(1, 1));
    const after = await all(userId);
    expect(after.map(({ externalId }) => externalId)).toEqual(['c-1#a', 'c-1#f']);
    expect(after[0]).toEqual(before ?? expect.anything());
  });

  test('keeps the order of messages, even of those with the same time', async () => {
    const userId = newUser();
    const nodes = Array.from({ length: 100 }, (_, n) =>
      node(`${n}`, n === 0 ? null : `${n - 1}`, say('user', `message ${n}`)),
    );
    const long = { ...conversation, mapping: Object.assign({}, ...nodes), current_node: '99' };
    await importFrom('chatgpt', JSON.stringify([long]), '--user', userId);
    const contents = (await all(userId)).map(({ content }) => content);
    expect(contents).toEqual(nodes.map((_, n) => `message ${n}`));
  });

  test('a search prefers what the user said to the replies', async () => {
    const userId = newUser();
    await importFrom('chatgpt', text, '--user', userId);
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
      const one = { ...conversation, mapping, current_node: end };
      await importFrom('chatgpt', JSON.stringify([one]), '--user', userId);
      return (await all(userId)).map(({ content }) => content);
    };
    expect(await importWith('b')).toEqual(['question', 'shown answer']);
    // Without a current node, the branch of the last node is used.
    expect(await importWith(undefined)).toEqual(['question', 'other answer']);
  });

  test('omits and counts messages that ChatGPT does not show', async () => {
    const userId = newUser();
    const metadata = { is_visually_hidden_from_conversation: true };
    const mapping = {
      ...node('root', null, null),
      ...node('a', 'root', { ...say('user', 'about me'), metadata }),
      ...node('b', 'a', { ...say('user', 'without weight'), weight: 0 }),
      ...node('c', 'b', {
        ...say('assistant'),
        content: { content_type: 'model_editable_context' },
      }),
      ...node('d', 'c', say('user', 'Likes tea')),
    };
    const one = { ...conversation, title: null, mapping, current_node: 'd' };
    const { stderr } = await importFrom('chatgpt', JSON.stringify([one]), '--user', userId);
    expect(stderr).toMatch(/^Not imported: .*hidden messages: 2\b/m);
    expect(stderr).toMatch(/^Not imported: .*model_editable_context: 1\b/m);
    const [memory] = await all(userId);
    expect(memory?.content).toBe('Likes tea');
  });

  test('dates a message without a time by the message before it, or by its conversation', async () => {
    const importWith = async (times: (number | null)[], createTime: number | null) => {
      const userId = newUser();
      const nodes = times.map((time, n) => {
        const message = { ...say('user', `message ${n}`), create_time: time };
        return node(`${n}`, n === 0 ? null : `${n - 1}`, message);
      });
      const mapping = Object.assign({}, ...nodes);
      const dated = { create_time: createTime, update_time: at + 60 };
      const one = { ...conversation, ...dated, mapping, current_node: `${times.length - 1}` };
      await importFrom('chatgpt', JSON.stringify([one]), '--user', userId);
      return (await all(userId)).map(({ occurredAt }) => occurredAt?.slice(14, 19));
    };
    expect(await importWith([at + 5, null, at + 7], at)).toEqual(['26:45', '26:45', '26:47']);
    expect(await importWith([null, at + 7], at)).toEqual(['26:40', '26:47']);
    expect(await importWith([null], null)).toEqual(['27:40']);
    // Times that are not in the years 0 to 9999.
    expect(await importWith([1e15, at + 7], -7e10)).toEqual(['27:40', '26:47']);
    expect(await importWith([at + 7, -1e15, 3e11], 1e15)).toEqual(['26:47', '26:47', '26:47']);
  });

  test('keeps the transcript of a spoken message', async () => {
    const userId = newUser();
    const spoken = { content_type: 'audio_transcription', text: 'Likes tea', direction: 'in' };
    const mapping = { ...node('root', null, null), ...node('a', 'root', say('user', spoken)) };
    const one = JSON.stringify([{ ...whole, title: null, mapping }]);
    const { stderr } = await importFrom('chatgpt', one, '--user', userId);
    expect(stderr).not.toContain('Not imported');
    const [memory] = await all(userId);
    expect(memory?.content).toBe('Likes tea');
  });

  test('imports messages that name no recipient', async () => {
    const userId = newUser();
    const { recipient: _, ...message } = say('user', 'Likes coffee');
    const mapping = { ...node('root', null, null), ...node('a', 'root', message) };
    const one = JSON.stringify([{ ...whole, mapping }]);
    const { stderr } = await importFrom('chatgpt', one, '--user', userId);
    expect(stderr).not.toContain('Not imported');
    expect((await all(userId))[0]?.content).toBe('Likes coffee');
  });

  test('names a message by the id of a conversation that has no conversation_id', async () => {
    const userId = newUser();
    const { conversation_id: _, ...older } = whole;
    for (const title of ['First', 'Second']) {
      const one = JSON.stringify([{ ...older, id: 'c-9', title }]);
      await importFrom('chatgpt', one, '--user', userId);
    }
    expect(await all(userId)).toMatchObject([{ externalId: 'c-9#a' }]);
  });
});
