import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt, temporaryFolder } from './command.ts';

let server: TestServer;
let memory: ReturnType<typeof memoryAt>;
beforeAll(async () => {
  server = await startTestServer();
  memory = memoryAt(server);
});
afterAll(() => server.stop());

const ticket = (userId: string, subject: string, more = {}) => ({
  userId,
  ...more,
  data: { subject, comments: [{ author: 'user', content: 'Where is it?' }] },
});

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
    const more = ['--description', 'Opened', '--priority', 'high', '-m', 'k=v'];
    const { code, stdout, stderr } = await memory([...flags, ...comments, ...more]);
    expect(stderr).toBe(`Queued. To wait for the result: memory wait ${stdout}`);
    expect(code).toBe(0);
    expect(await server.client.get(stdout.trim())).toMatchObject({
      content: 'Refund\n\nOpened\n\nuser: Where: is it?\nagent: On its way\nnow',
      metadata: { subject: 'Refund', priority: 'high', k: 'v' },
    });
  });

  test('--json prints the API response; --wait --json prints the final status', async () => {
    const pair = ['--source', 'zendesk', '--external-id', '1182', '--json'];
    const accepted = JSON.parse((await memory([...flags, ...pair])).stdout);
    expect(accepted).toMatchObject({ source: 'zendesk', externalId: '1182' });
    const { stdout, stderr } = await memory([...flags, ...pair, '--wait']);
    expect(JSON.parse(stdout)).toMatchObject({ memoryId: accepted.memoryId, status: 'complete' });
    expect(stderr).toBe('');
  });

  test('--wait prints the final status', async () => {
    const { code, stdout, stderr } = await memory([...flags, '--comment', 'user: x', '--wait']);
    expect(stderr).toBe('Complete.\n');
    expect(code).toBe(0);
    expect((await server.client.status(stdout.trim())).status).toBe('complete');
  });

  test('accepts a file or stdin with one record that spans any number of lines', async () => {
    using folder = temporaryFolder();
    const file = folder.file('ticket.json');
    writeFileSync(file, JSON.stringify(ticket('one', 'a'), null, 2));
    expect((await memory(['ingest', 'support', file])).stdout).toMatch(/^mem_\w+\n$/);
    const stdin = `${JSON.stringify({ type: 'ticket', ...ticket('one', 'b') })}\n`;
    expect((await memory(['ingest', 'support', '-'], { stdin })).stdout).toMatch(/^mem_\w+\n$/);
    expect(await contentsOf('one')).toEqual(['a\n\nuser: Where is it?', 'b\n\nuser: Where is it?']);
  });

  test('invalid JSON is reported with line and column', async () => {
    const stdin = '\n{\n\n "userId": "u",\n "data": {"subject": "x" "comments": []}\n}';
    const { code, stderr } = await memory(['ingest', 'support', '-'], { stdin });
    expect(stderr).toStartWith(
      'Error: The input is not valid JSON: comma expected at line 5, column 26.',
    );
    expect(code).toBe(1);
  });

  test('every invalid field is named', async () => {
    const stdin = JSON.stringify({ data: { subject: '', comments: [] } });
    const { code, stderr } = await memory(['ingest', 'support', '-'], { stdin });
    expect(stderr).toContain('  userId: is required\n  data.subject: must not be empty');
    expect(code).toBe(1);
  });

  test('a comment without an author: exit 2', async () => {
    const { code, stderr } = await memory([...flags, '--comment', 'hello']);
    expect(stderr).toContain('For example: --comment "user: Where is it?"');
    expect(code).toBe(2);
  });
});

test('memory ingest chat: from options and from a file', async () => {
  const options = ['--message', 'user: Hi', '--title', 'T', '--tag', 'a', '--tag', 'b'];
  const flags = await memory(['ingest', 'chat', '--user', 'chat', ...options]);
  expect(await server.client.get(flags.stdout.trim())).toMatchObject({
    type: 'conversation',
    content: 'T\n\nuser: Hi',
    metadata: { tags: ['a', 'b'] },
  });
  const record = { userId: 'chat', data: { messages: [{ role: 'agent', content: 'Yo' }] } };
  const piped = await memory(['ingest', 'chat', '-'], { stdin: JSON.stringify(record) });
  expect(await server.client.get(piped.stdout.trim())).toMatchObject({ content: 'agent: Yo' });
});

test('memory ingest record: any type', async () => {
  const record = { type: 'profile', userId: 'record', data: { summary: 'Likes tea', age: 7 } };
  const { stdout } = await memory(['ingest', 'record', '-'], { stdin: JSON.stringify(record) });
  expect(await server.client.get(stdout.trim())).toMatchObject({
    type: 'profile',
    content: 'Likes tea\nage: 7',
  });
});

describe('memory ingest document', () => {
  const counts = { '0': 0, '-1': 2, '2.5': 2 };
  test.each(Object.entries(counts))('--page-count %s: exit %i', async (count, code) => {
    const argv = ['ingest', 'document', '--user', 'pages', '-', '--page-count', count, '--dry-run'];
    expect(await memory(argv, { stdin: 'text' })).toMatchObject({ code });
  });

  test('keeps the text of a file or of stdin unchanged', async () => {
    const argv = ['ingest', 'document', '--user', 'doc', '-', '--title', 'T', '--page-count', '3'];
    const { stdout } = await memory(argv, { stdin: ' a\r\n\n' });
    expect(await server.client.get(stdout.trim())).toMatchObject({
      content: ' a\r\n\n',
      externalId: null,
      metadata: { title: 'T', pageCount: 3 },
    });
  });

  test('stores several files under their paths, even if some files cannot be read', async () => {
    using folder = temporaryFolder();
    const [a, b, none, empty] = ['a', 'b', 'none', 'empty'].map((name) => folder.file(name));
    writeFileSync(`${a}`, 'text of a');
    writeFileSync(`${b}`, 'text of b');
    writeFileSync(`${empty}`, '');
    const files = [`${a}`, `${none}`, `${empty}`, `${b}`];
    const argv = ['ingest', 'document', '--user', 'docs', '--wait', ...files];
    const { code, stdout, stderr } = await memory(argv);
    expect(lines(stdout).map((line) => line.split('\t')[1])).toEqual([`${a}`, `${b}`]);
    expect(lines(stderr)).toEqual([
      `File not found: ${none}. Use - to read from stdin.`,
      `${empty} is empty.`,
      '2 accepted, 2 complete, 2 failed.',
    ]);
    expect(code).toBe(1);
    const again = await memory(argv);
    expect(again.stdout).toBe(stdout);
    expect(await contentsOf('docs')).toHaveLength(2);
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
  return answerWith(fetch);
}

function answerWith(fetch: (request: Request) => Response | Promise<Response>) {
  const endpoint = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
  return {
    env: { MEMORY_BASE_URL: `http://127.0.0.1:${endpoint.port}` },
    [Symbol.asyncDispose]: () => endpoint.stop(true),
  };
}

describe('a failed wait', () => {
  test('a memory that was deleted during the wait: exit 3 and the reason', async () => {
    const fetch = ({ url }: Request) =>
      url.endsWith('/status')
        ? Response.json({ items: [], notFound: ['mem_a'] })
        : Response.json({ memoryId: 'mem_a', status: 'processing' }, { status: 202 });
    await using endpoint = answerWith(fetch);
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

describe('memory status and wait', () => {
  test('status shows the fields', async () => {
    const { id } = await server.client.save({ userId: 'status', content: 'x' });
    const { code, stdout } = await memory(['status', id]);
    expect(lines(stdout)).toContain('status\tcomplete');
    expect(code).toBe(0);
    const json = await memory(['status', id, '--json']);
    expect(JSON.parse(json.stdout)).toEqual(await server.client.status(id));
  });

  test('wait reports each memory, and exits with status 3 if one is missing', async () => {
    const data = { text: 'x' };
    const { memoryId } = await server.client.ingest.document({ userId: 'wait', data });
    const { id } = await server.client.save({ userId: 'wait', content: 'x' });
    const all = await memory(['wait', memoryId, id]);
    expect(lines(all.stdout).sort()).toEqual([`${memoryId}\tcomplete`, `${id}\tcomplete`].sort());
    expect(all.code).toBe(0);
    const some = await memory(['wait', id, 'mem_none', '--json']);
    expect(lines(some.stdout).map((line) => JSON.parse(line))).toContainEqual({
      memoryId: 'mem_none',
      error: { code: 'not_found', message: expect.any(String) },
    });
    expect(some.code).toBe(3);
  });
});
