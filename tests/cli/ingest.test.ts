import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { withProject } from '../support/server.ts';
import { lines, memoryAt, temporaryFolder } from './command.ts';
import { startService } from './service.ts';

const server = await withProject();
const memory = memoryAt(server);

async function contentsOf(userId: string): Promise<string[]> {
  const contents: string[] = [];
  for await (const { content } of server.client.list({ userId, order: 'asc' })) {
    contents.push(content);
  }
  return contents;
}

describe('memory ingest support', () => {
  const flags = ['ingest', 'support', '--user', 'flags', '--subject', 'Refund'];

  test('stores comments from options in order, and other fields as metadata', async () => {
    const comments = ['--comment', 'user: Where: is it?', '--comment', 'agent:On its way\nnow'];
    const more = ['--priority', 'high', '-m', 'k=v'];
    const { code, stdout, stderr } = await memory([...flags, ...comments, ...more]);
    expect(stderr).toBe(`Queued. To wait for the result: memory wait ${stdout}`);
    expect(code).toBe(0);
    expect(await server.client.get(stdout.trim())).toMatchObject({
      content: 'Refund\n\nuser: Where: is it?\nagent: On its way\nnow',
      metadata: { subject: 'Refund', priority: 'high', k: 'v' },
    });
  });
});

describe('memory ingest document', () => {
  test('keeps the text of a file or of stdin unchanged', async () => {
    const argv = ['ingest', 'document', '--user', 'doc', '-', '--title', 'T'];
    const { stdout } = await memory(argv, { stdin: ' a\r\n\n' });
    expect(await server.client.get(stdout.trim())).toMatchObject({
      content: ' a\r\n\n',
      externalId: null,
      metadata: { title: 'T' },
    });
  });

  test('stores a single file under its path unless --external-id is given', async () => {
    using folder = temporaryFolder();
    const file = folder.file('notes.md');
    const argv = ['ingest', 'document', '--user', 'one-doc', file];
    writeFileSync(file, 'first');
    const first = await memory([...argv, '--wait']);
    writeFileSync(file, 'second');
    expect((await memory([...argv, '--wait'])).stdout).toBe(first.stdout);
    const stored = await server.client.get(first.stdout.trim());
    expect(stored).toMatchObject({ externalId: file, content: 'second' });
    const named = await memory([...argv, '--external-id', 'n-1']);
    expect(await server.client.get(named.stdout.trim())).toMatchObject({ externalId: 'n-1' });
    expect(await contentsOf('one-doc')).toHaveLength(2);
  });
});

/** Starts an endpoint that returns the same status for every memory. */
function answerStatus(status: 'processing' | 'failed') {
  const at = '2026-11-20T10:00:00.000Z';
  const errorMessage = status === 'failed' ? 'it cannot be read' : null;
  const chunks = { chunksComplete: 0, chunksTotal: 0, attempts: 1 };
  const answer = { status, ...chunks, errorMessage, createdAt: at, updatedAt: at };
  async function fetch(request: Request): Promise<Response> {
    const { memoryIds } = (await request.json()) as { memoryIds: string[] };
    const items = memoryIds.map((memoryId) => ({ memoryId, ...answer }));
    return Response.json({ items, notFound: [] });
  }
  return startService(fetch);
}

describe('a failed wait', () => {
  test('a memory that was deleted during the wait: exit 3 and the reason', async () => {
    const fetch = ({ url }: Request) =>
      url.endsWith('/status')
        ? Response.json({ items: [], notFound: ['mem_a'] })
        : Response.json({ memoryId: 'mem_a', status: 'processing' }, { status: 202 });
    await using endpoint = startService(fetch);
    const argv = ['ingest', 'document', '--user', 'u', '-', '--wait'];
    const { code, stderr } = await memory(argv, { ...endpoint, stdin: 'text' });
    expect(stderr).toBe('Failed: not found\n');
    expect(code).toBe(3);
  });

  test('a timeout: exit 8, with a note that nothing is lost and a hint on how to resume', async () => {
    await using endpoint = answerStatus('processing');
    const argv = ['wait', 'mem_a', 'mem_b', '--timeout', '1s'];
    const { code, stdout, stderr } = await memory(argv, endpoint);
    expect(lines(stdout)).toEqual(['mem_a\tprocessing', 'mem_b\tprocessing']);
    expect(stderr).toBe('Nothing is lost. Continue waiting: memory wait mem_a mem_b\n');
    expect(code).toBe(8);
  });

  test('a failed task: exit 1 and the reason', async () => {
    await using endpoint = answerStatus('failed');
    const { code, stdout } = await memory(['wait', 'mem_a'], endpoint);
    expect(stdout).toBe('mem_a\tfailed\tit cannot be read\n');
    expect(code).toBe(1);
    const json = await memory(['wait', 'mem_a', '--json'], endpoint);
    expect(JSON.parse(json.stdout)).toMatchObject({ memoryId: 'mem_a', status: 'failed' });
  });
});
