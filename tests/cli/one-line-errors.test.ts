import { expect, test } from 'bun:test';
import { lines, memory } from './command.ts';

const value = "it's\nforged";
test.each([
  [[value]],
  [['list', '--limit', value]],
  [['list', value]],
  [['list', `--${value}`]],
  [['get', 'mem_1', '--base-url', value]],
  [['ingest', 'chat', '--message', value]],
  [['ingest', 'support', value]],
  [['ingest', 'document', value]],
  [['delete', '--user', value]],
  [['profile', 'set', value, '-']],
])('an argument with a newline cannot forge a line of the error: %j', async (argv) => {
  const { code, stderr } = await memory(argv, { env: { MEMORY_API_KEY: 'k' } });
  expect(stderr).toContain('forged');
  expect(lines(stderr).filter((line) => line.startsWith('forged'))).toEqual([]);
  expect(code).toBeWithin(1, 3);
});
