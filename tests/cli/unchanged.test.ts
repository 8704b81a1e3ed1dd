import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt } from './command.ts';
import { foldersFor } from './folder.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('an unchanged document is printed with its current status, not that of its first response', async () => {
  using folder = foldersFor(() => memoryAt(server))('now', { 'a.md': 'a', 'b.md': 'b' });
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
  const send = () => memoryAt(server)(ingest, { stdin: 'the same text' });
  const [first, second] = [await send(), await send()];
  expect(second.stdout).not.toBe(first.stdout);
  expect(first.stderr + second.stderr).not.toContain('Unchanged');
});
