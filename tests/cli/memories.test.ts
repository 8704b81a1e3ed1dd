import { describe, expect, test } from 'bun:test';
import { backend } from '../support/backend.ts';
import { importable } from '../support/writes.ts';
import { expectRan, lines, withMemory } from './command.ts';

const { server, memory } = await withMemory();

const longText = 'To store a long text: memory ingest document --user <id> <file>';

describe('memory save', () => {
  test('explains how to store text that exceeds the body limit for a save or update', async () => {
    const { stdout } = await memory(['save', '--user', 'save', 'short']);
    for (const argv of [
      ['save', '--user', 'save', '-'],
      ['update', stdout.trim(), '-'],
    ]) {
      const ran = await memory(argv, { stdin: 'x'.repeat(1024 * 1024) });
      expectRan(ran, 1, `Error: The body must be at most 1048576 bytes.\n${longText}\n`);
    }
  });

  test('--api-key overrides the environment', async () => {
    const env = { MEMORY_API_KEY: 'not-a-key-of-this-server' };
    const argv = ['save', '--user', 'save', 'x', '--api-key', server.key];
    expect(await memory(argv, { env })).toMatchObject({ code: 0 });
  });
});

describe('memory list', () => {
  test('continues from the cursor in the hint, in either order', async () => {
    for (const content of ['1', '2', '3']) await server.client.save({ userId: 'pages', content });
    const argv = ['list', '--user', 'pages', '--limit', '2', '--order', 'asc'];
    const { stdout, stderr } = await memory(argv);
    expect(lines(stdout).map((line) => line.split('\t')[4])).toEqual(['1', '2']);
    const cursor = /--cursor (\S+)/.exec(stderr)?.[1] ?? '';
    const rest = await memory([...argv, '--cursor', cursor]);
    expect(lines(rest.stdout).map((line) => line.split('\t')[4])).toEqual(['3']);
    expect(rest.stderr).toBe('');
  });

  test('continues with the options in the hint even if --from and --to are durations', async () => {
    const occurredAt = new Date(Date.now() - 2 * 864e5);
    const saved = ['1', '2'].map((content) => ({ userId: 'since', content, occurredAt }));
    for (const one of saved) await server.client.save(one);
    const argv = ['list', '--user', 'since', '--from', '3d', '--to', '1d', '--limit', '1'];
    const { stderr } = await memory(argv);
    const next = /or (--.*)\n/.exec(stderr)?.[1]?.split(' ') ?? [];
    const rest = await memory([...argv, ...next]);
    expect(lines(rest.stdout).map((line) => line.split('\t')[4])).toEqual(['1']);
  });
});

test('health needs no key', async () => {
  const { code, stdout } = await memory(['health', '--json'], { env: { MEMORY_API_KEY: '' } });
  expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', storage: backend });
  expect(code).toBe(0);
});

test('a page without --limit has 20 memories', async () => {
  const saved = Array.from({ length: 21 }, () => ({ userId: 'page', content: 'x' }));
  await Promise.all(saved.map((one) => server.client.save(one)));
  const { stdout, stderr } = await memory(['list', '--user', 'page']);
  expect(lines(stdout)).toHaveLength(20);
  expect(stderr).toStartWith('More results are available: add --all, or --cursor ');
});

test('a narrower terminal drops first the age, then the type', async () => {
  const userId = 'dropped';
  await server.client.save({ userId, content: 'Likes tea '.repeat(20) });
  const data = { messages: [{ role: 'user', content: 'Hi '.repeat(100) }] };
  const { memoryId } = await server.client.ingest.chat({ userId, data });
  await server.client.waitUntilComplete(memoryId);
  const headers = [67, 63, 50].map(async (terminal) => {
    const { stdout } = await memory(['list', '--user', userId], { terminal });
    return lines(stdout)[0]?.split(/ +/);
  });
  expect(await Promise.all(headers)).toEqual([
    ['ID', 'TYPE', 'AGE', 'CONTENT'],
    ['ID', 'TYPE', 'CONTENT'],
    ['ID', 'CONTENT'],
  ]);
});

test('a text that exactly fits the terminal is not cut', async () => {
  const content = 'x'.repeat(37);
  await server.client.save({ userId: 'fits', content });
  const { stdout } = await memory(['list', '--user', 'fits'], { terminal: 80 });
  const [, row = ''] = lines(stdout);
  expect(row).toEndWith(`  ${content}`);
  expect(Bun.stringWidth(row)).toBe(80);
});

test('a long path of a document shows its end, and leaves room for the text', async () => {
  const userId = 'paths';
  const externalId = 'handbook/departments/engineering/on-boarding/first-day.md';
  const { memoryId } = await server.client.ingest.document({
    userId,
    externalId,
    data: { text: 'Bring your badge.' },
  });
  await server.client.waitUntilComplete(memoryId);
  const { stdout } = await memory(['list', '--user', userId], { terminal: 120 });
  expect(stdout).toContain('  …ts/engineering/on-boarding/first-day.md: Bring your badge.\n');
});

test('--all prints 100 memories in one table', async () => {
  const items = Array.from({ length: 100 }, (_, n) => ({
    ...importable('hundred'),
    id: `mem_hundred_${n}`,
  }));
  await server.client.import({ items });
  const argv = ['list', '--user', 'hundred', '--all'];
  const found = lines((await memory(argv, { terminal: 80 })).stdout);
  expect(found).toHaveLength(101);
  expect(found.filter((line) => line.startsWith('ID '))).toHaveLength(1);
});
