import { expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { MemoryClient } from 'memory-service-sdk';
import { MemoryFiles } from '../index.ts';

/* What the local tool has no counterpart for: other clients, limits and the tool runner. */

const client = new MemoryClient();
const path = '/memories/a.txt';
const file_text = 'Likes tea\nand\nmilk\n';
const edit = { command: 'str_replace', path, old_str: 'tea', new_str: 'coffee' } as const;

async function filesOfNewUser(files = client) {
  const userId = crypto.randomUUID();
  const handlers = new MemoryFiles(files, { userId });
  await handlers.create({ command: 'create', path, file_text });
  return { userId, handlers };
}

test('a file is a memory that searches find', async () => {
  const { userId } = await filesOfNewUser();
  const { items } = await client.search({ userId, query: 'tea' });
  expect(items).toMatchObject([{ externalId: path, source: 'claude', content: `${file_text}\n` }]);
});

test('an undefined source is the default, and not that of every memory', async () => {
  const userId = crypto.randomUUID();
  await client.save({ userId, source: 'notes', externalId: path, content: 'Plays the cello' });
  const handlers = new MemoryFiles(client, { userId, source: undefined });
  await expect(handlers.delete({ command: 'delete', path })).rejects.toThrow('does not exist');
  await handlers.create({ command: 'create', path, file_text });
  const { items } = await client.list({ userId });
  expect(items.map((item) => item.source)).toEqual(['claude', 'notes']);
});

test('text of several lines can be replaced', async () => {
  const { handlers } = await filesOfNewUser();
  const result = await handlers.str_replace({ ...edit, old_str: 'tea\nand\n', new_str: '' });
  expect(result).toEndWith(':\n     1\tLikes milk\n     2\t');
});

test('a change by another client is not overwritten', async () => {
  const { userId, handlers } = await filesOfNewUser();
  const { items } = await client.list({ userId });
  const content = 'Likes tea, and cake\n';
  const interfering = new MemoryClient({
    fetch: async (url, init) => {
      if (init?.method === 'PATCH') await client.update(items[0]?.id ?? '', { content });
      return fetch(url, init);
    },
  });
  const other = new MemoryFiles(interfering, { userId });
  await expect(other.str_replace(edit)).rejects.toThrow('version');
  expect(await handlers.str_replace(edit)).toEndWith('Likes coffee, and cake');
});

test('a renamed file keeps its metadata and times', async () => {
  const { userId, handlers } = await filesOfNewUser();
  const { items } = await client.list({ userId });
  const times = { occurredAt: '2026-05-08T00:00:00.000Z', expiresAt: '2096-01-01T00:00:00.000Z' };
  const kept = { metadata: { tag: 'drink' }, ...times };
  await client.update(items[0]?.id ?? '', kept);
  const new_path = '/memories/b.txt';
  await handlers.rename({ command: 'rename', old_path: path, new_path });
  const renamed = (await client.list({ userId })).items;
  expect(renamed).toMatchObject([{ externalId: new_path, content: `${file_text}\n`, ...kept }]);
});

test('arguments that the model leaves out are errors, and not the text "undefined"', async () => {
  const { userId, handlers } = await filesOfNewUser();
  const tool = betaMemoryTool(handlers);
  for (const name of ['file_text', 'new_str']) {
    const command = name === 'file_text' ? { command: 'create', path: '/memories/b' } : edit;
    const call = async () => tool.run({ ...command, [name]: undefined } as typeof edit);
    await expect(call()).rejects.toThrow(`${name} is required`);
  }
  expect((await client.list({ userId })).items).toMatchObject([{ content: `${file_text}\n` }]);
});

test('the limits of the service are errors', async () => {
  const { handlers } = await filesOfNewUser();
  const long = { command: 'create', path: '/memories/b', file_text: 'x'.repeat(65_536) } as const;
  await expect(handlers.create(long)).rejects.toThrow('content: must be at most 65536 characters');
});

test('a conversation with the tool runner', async () => {
  const sent: { messages: { content: unknown }[]; tools: unknown }[] = [];
  const script = [{ command: 'view', path: '/memories' }, edit, undefined];
  const anthropic = new Anthropic({
    apiKey: 'none',
    fetch: async (_, init) => {
      const input = script[sent.push(JSON.parse(String(init?.body))) - 1];
      const use = { type: 'tool_use', id: `tu_${sent.length}`, name: 'memory', input };
      return Response.json({
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' },
        content: [input ? use : { type: 'text', text: 'I will remember.' }],
        stop_reason: input ? 'tool_use' : 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    },
  });
  const { handlers } = await filesOfNewUser();
  await anthropic.beta.messages.toolRunner({
    model: 'claude-sonnet-5-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'I like coffee now' }],
    tools: [betaMemoryTool(handlers)],
  });
  expect(sent[0]?.tools).toEqual([{ type: 'memory_20250818', name: 'memory' }]);
  const results = sent.slice(1).map(({ messages }) => messages.at(-1)?.content);
  expect(results).toMatchObject([
    [{ content: expect.stringContaining('19B\t/memories/a.txt') }],
    [{ content: expect.stringContaining('Likes coffee') }],
  ]);
});
