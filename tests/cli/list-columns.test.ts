import { expect, test } from 'bun:test';
import { importable } from '../support/writes.ts';
import { lines, withMemory } from './command.ts';

/* The columns of `memory list` on narrow terminals. */

const { server, memory } = await withMemory();

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
