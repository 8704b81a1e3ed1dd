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

test('an unchanged document is sent again if its processing has failed', async () => {
  // Reports every memory as failed.
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, headers } = request;
      const { pathname } = new URL(request.url);
      const body = method === 'GET' ? null : await request.arrayBuffer();
      const answer = await fetch(server.url + pathname, { method, headers, body });
      if (method !== 'GET') return answer;
      return Response.json({ ...((await answer.json()) as object), status: 'failed' });
    },
  });
  const env = { MEMORY_BASE_URL: `http://127.0.0.1:${proxy.port}` };
  using folder = foldersFor(() => memoryAt(server))('failed', { 'a.md': 'a' });
  const { stdout } = await folder.ingest(['a.md']);
  const again = await folder.ingest(['a.md'], { env });
  expect(again.stdout).toBe(stdout);
  expect(again.stderr).toStartWith('Queued.');
  await proxy.stop(true);
  expect(await server.client.get(stdout.trim())).toMatchObject({ content: 'a', version: 2 });
});
