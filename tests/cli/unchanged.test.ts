import { expect, test } from 'bun:test';
import { holdTask } from '../support/queue.ts';
import { lines, withMemory } from './command.ts';
import { foldersFor } from './folder.ts';

const { server, memory } = await withMemory();

test('an unchanged document is printed with its current status, not that of its first response', async () => {
  using folder = foldersFor(memory)('now', { 'a.md': 'a', 'b.md': 'b' });
  await folder.ingest(['.', '--wait']);
  const statuses = async (path: string) => {
    const { stdout } = await folder.ingest([path, '--json']);
    return lines(stdout).map((line) => JSON.parse(line).status);
  };
  expect(await statuses('a.md')).toEqual(['complete']);
  expect(await statuses('.')).toEqual(['complete', 'complete']);
});

test('a document without an external id is stored each time, and never reported as unchanged', async () => {
  const ingest = ['ingest', 'document', '--user', 'stdin', '-'];
  const send = () => memory(ingest, { stdin: 'the same text' });
  const [first, second] = [await send(), await send()];
  expect(second.stdout).not.toBe(first.stdout);
  expect(first.stderr + second.stderr).not.toContain('Unchanged');
});

test('an unchanged document is sent again if its processing has failed', async () => {
  using folder = foldersFor(memory)('failed', { 'a.md': 'a' });
  const { stdout } = await folder.ingest(['a.md', '--wait']);
  const fail = await holdTask(server, stdout.trim());
  await fail('no luck');
  const again = await folder.ingest(['a.md']);
  expect(again.stdout).toBe(stdout);
  expect(again.stderr).toStartWith('Queued.');
  expect(await server.client.get(stdout.trim())).toMatchObject({ content: 'a', version: 2 });
});

test('a document that the service already stores is unchanged, even if sent with a new key', async () => {
  using folder = foldersFor(memory)('key', { 'a.md': 'a', 'b.md': 'b' });
  const { stdout } = await folder.ingest(['a.md', '--wait', '--idempotency-key', 'first']);
  const again = await folder.ingest(['a.md', '--idempotency-key', 'second']);
  expect(again.stdout).toBe(stdout);
  expect(again.stderr).toStartWith(`Unchanged. To show the memory: memory get ${stdout}`);
  const all = await folder.ingest(['.', '--idempotency-key', 'third']);
  expect(all.stderr).toContain('1 accepted, 1 unchanged, 0 failed.');
});

test('--wait waits for an unchanged document, too', async () => {
  using folder = foldersFor(memory)('waited', { 'a.md': 'a' });
  const { stdout } = await folder.ingest(['a.md']);
  const again = await folder.ingest(['a.md', '--wait']);
  expect(again).toEqual({ code: 0, stdout, stderr: 'Complete.\n' });
});
