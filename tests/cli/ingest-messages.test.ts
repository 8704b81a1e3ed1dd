import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { temporaryFolder } from '../support/folder.ts';
import { expectRan, withMemory } from './command.ts';

/* A list of messages for memory ingest chat, as model APIs use them. */

const { server, memory } = await withMemory();

const messages = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
];

test('stores one conversation, with the options', async () => {
  using folder = temporaryFolder();
  writeFileSync(folder.file('messages.json'), JSON.stringify(messages, null, 2));
  const options = ['--user', 'list', '--title', 'T', '--source', 's', '-m', 'n:=1'];
  const ran = await memory(['ingest', 'chat', ...options, folder.file('messages.json'), '--json']);
  expect(ran.code).toBe(0);
  expect(await server.client.get(JSON.parse(ran.stdout).memoryId)).toMatchObject({
    userId: 'list',
    type: 'conversation',
    content: 'T\n\nuser: Hi\nassistant: Hello',
    source: 's',
    metadata: { n: 1, title: 'T' },
  });
});

test.each([
  ['one record', 1],
  ['JSON Lines', 2],
])('stores %s with the messages at the top level', async (_, lines) => {
  const record = JSON.stringify({ userId: `top-${lines}`, messages });
  const stdin = Array(lines).fill(record).join('\n');
  const stderr = expect.not.stringContaining('Error');
  expect(await memory(['ingest', 'chat', '-'], { stdin })).toMatchObject({ code: 0, stderr });
  const { items } = await server.client.list({ userId: `top-${lines}` });
  expect(items.map(({ content }) => content)).toEqual(
    Array(lines).fill('user: Hi\nassistant: Hello'),
  );
});

const record = { userId: 'u', messages };
test.each([
  ['a record', JSON.stringify(record)],
  ['JSON Lines', `${JSON.stringify(record)}\n{}`],
  ['a list without roles', '[{"text":"Hi"}]'],
])('but %s with options is rejected', async (_, stdin) => {
  const ran = await memory(['ingest', 'chat', '--user', 'u', '-'], { stdin });
  expectRan(ran, 2, 'Error: Only a list of messages [{ role, content }, …] takes');
});
