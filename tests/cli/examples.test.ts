import { beforeEach, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { examplesBelow } from '../../cli/commander.ts';
import { createProgram } from '../../cli/program.ts';
import { backend } from '../support/backend.ts';
import { withFolder } from '../support/folder.ts';
import { withServer } from '../support/server.ts';
import { importable } from '../support/writes.ts';
import { memory, testTerminal } from './command.ts';
import { installCommand } from './shell.ts';
import { parse } from './transcript.ts';

const folder = withFolder();
const server = await withServer();
const ticket = { userId: 'u-1', data: { subject: 'Refund', comments: [] } };
const chat = { userId: 'u-1', data: { messages: [{ role: 'user', content: 'Hi' }] } };
const event = { type: 'event', userId: 'u-1', data: { name: 'signed up' } };
const files = {
  'ticket.json': JSON.stringify(ticket, null, 2),
  'tickets.jsonl': `${JSON.stringify(ticket)}\n${JSON.stringify(ticket)}\n`,
  'chat.json': JSON.stringify(chat),
  'messages.json': JSON.stringify(chat.data.messages),
  'event.json': JSON.stringify(event),
  'records.jsonl': `${JSON.stringify(event)}\n`,
  'memories.jsonl': `${JSON.stringify(importable('u-1'))}\n`,
  'conversations.json': '[]',
  'mem0.json': JSON.stringify({ results: [{ id: '1', memory: 'Likes tea', user_id: 'u-1' }] }),
  'key.txt': 'mk_0199c2a4f1e87c3d9b5e6a7f80912b3c',
  'handbook.md': '# Handbook',
  'faq.md': '# Questions',
};
for (const [name, text] of Object.entries(files)) writeFileSync(folder.file(name), text);
mkdirSync(folder.file('.config/memory-service'), { recursive: true });
mkdirSync(folder.file('docs'));
writeFileSync(folder.file('docs/page.html'), '<title>Page</title><p>Text');
installCommand(folder);
// Some examples change the profile, and `mcp install` requires the key in the profile.
beforeEach(() => {
  const keys = {
    [server.url]: { apiKey: server.key },
    'https://memory.example': { apiKey: 'mk_0199c2a4f1e87c3d9b5e6a7f80912b3c' },
  };
  writeFileSync(folder.file('.config/memory-service/profile.json'), JSON.stringify({ keys }));
});

async function realIds(example: string): Promise<string> {
  if (example.includes('key_')) {
    const { key: _, ...made } = JSON.parse((await run('memory keys create --json')).stdout);
    return example.replace(/key_\w+/, made.id);
  }
  if (!example.includes('mem_')) return example;
  const { id } = await server.client.save({ userId: 'u-1', content: 'x' });
  return example.replace(/mem_\w+/, id);
}

const environment = () => ({
  HOME: folder.path,
  MEMORY_BASE_URL: server.url,
  MEMORY_API_KEY: server.key,
  MEMORY_DATABASE_URL: server.databaseUrl,
});

/** Runs the line. Only a line that needs a shell, or writes to the current folder, starts one. */
async function run(line: string) {
  const { words, stdin } = parse(line, folder);
  if (!words.some((word) => /^[|<>]/.test(word)) && !/^cat |^memory backup/.test(line)) {
    const env = { ...environment(), PATH: '' };
    return memory(words, { env, home: folder.path, cwd: folder.path, stdin });
  }
  const child = Bun.spawn(['sh', '-c', line], {
    cwd: folder.path,
    env: { ...environment(), PATH: `${folder.file('bin')}:${process.env.PATH}` },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

const all = examplesBelow(await createProgram(testTerminal()));
// Other tests cover these commands: serve and top run until they are stopped, restore and migrate
// require a stopped server, and backup requires SQLite.
const elsewhere =
  backend === 'sqlite'
    ? /\bmemory (serve|restore|migrate|top)/
    : /\bmemory (serve|restore|migrate|top|backup)/;
for (const example of all.filter((line) => !elsewhere.test(line))) {
  test(`the example in the help succeeds: ${example}`, async () => {
    const stderr = expect.not.stringContaining('Error');
    expect(await run(await realIds(example))).toMatchObject({ code: 0, stderr });
  });
}
