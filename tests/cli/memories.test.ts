import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { backend } from '../support/backend.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt } from './command.ts';

let server: TestServer;
let memory: ReturnType<typeof memoryAt>;
beforeAll(async () => {
  server = await startTestServer();
  memory = memoryAt(server);
});
afterAll(() => server.stop());

const longText = 'To store a long text: memory ingest document --user <id> <file>';

describe('memory save', () => {
  test('prints the id on stdout and the next command on stderr', async () => {
    const { code, stdout, stderr } = await memory(['save', '--user', 'save', 'Likes tea']);
    expect(stdout).toMatch(/^mem_\w+\n$/);
    expect(stderr).toBe(`Saved. To show the memory: memory get ${stdout}`);
    expect(code).toBe(0);
    expect(await server.client.get(stdout.trim())).toMatchObject({ content: 'Likes tea' });
  });

  test('--json prints the API response, and nothing on stderr', async () => {
    const { stdout, stderr } = await memory(['save', '--user', 'save', 'x', '--json']);
    const saved = JSON.parse(stdout);
    expect(saved).toMatchObject({ userId: 'save', content: 'x', memoryId: saved.id });
    expect(stderr).toBe('');
  });

  test('- reads stdin, without the newline that echo adds', async () => {
    const { stdout } = await memory(['save', '--user', 'save', '-'], { stdin: ' two\nlines \n' });
    expect((await server.client.get(stdout.trim())).content).toBe(' two\nlines ');
  });

  test('stores metadata as text after =, and as JSON after :=', async () => {
    const pairs = ['-m', 'a=1', '--metadata', 'b:=[1,null]', '-m', 'url=http://x/?a=b', '-m', 'e='];
    const { stdout } = await memory(['save', '--user', 'save', ...pairs, 'text']);
    const { metadata } = await server.client.get(stdout.trim());
    expect(metadata).toEqual({ a: '1', b: [1, null], url: 'http://x/?a=b', e: '' });
  });

  test('the same --idempotency-key twice saves once', async () => {
    const argv = ['save', '--user', 'once', 'text', '--idempotency-key', 'k-1'];
    const [first, second] = [await memory(argv), await memory(argv)];
    expect(second.stdout).toBe(first.stdout);
    expect((await server.client.list({ userId: 'once' })).items).toHaveLength(1);
  });

  test('rejects an empty text before sending anything, exit 2', async () => {
    expect(await memory(['save', '--user', 'save', ''])).toMatchObject({ code: 2, stdout: '' });
    expect(await memory(['save', '--user', 'save', '-'])).toMatchObject({ code: 2, stdout: '' });
  });

  test('reports a rejection by the service with its request id, exit 1', async () => {
    const long = 'x'.repeat(65_537);
    const { code, stdout, stderr } = await memory(['save', '--user', 'save', long]);
    expect(stderr).toContain('content: must be at most 65536 characters');
    expect(stderr).toMatch(/\nRequest id: req_\w+\n$/);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const json = await memory(['save', '--user', 'save', long, '--json']);
    expect(JSON.parse(json.stdout).error).toEqual({
      code: 'invalid_request',
      message: expect.stringContaining('content'),
      hint: longText,
      requestId: expect.stringMatching(/^req_/),
      details: [{ field: 'content', message: expect.stringContaining('at most 65536') }],
    });
  });

  test('explains how to store text that exceeds the body limit for a save or update', async () => {
    const { stdout } = await memory(['save', '--user', 'save', 'short']);
    for (const argv of [
      ['save', '--user', 'save', '-'],
      ['update', stdout.trim(), '-'],
    ]) {
      const { code, stderr } = await memory(argv, { stdin: 'x'.repeat(1024 * 1024) });
      expect(stderr).toStartWith(`Error: The body must be at most 1048576 bytes.\n${longText}\n`);
      expect(code).toBe(1);
    }
  });

  test("a wrong key: exit 4, and the contract's error code in JSON", async () => {
    const env = { MEMORY_API_KEY: 'not-a-key-of-this-server' };
    const argv = ['save', '--user', 'save', 'x', '--json'];
    const { code, stdout } = await memory(argv, { env });
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'unauthorized',
      requestId: expect.stringMatching(/^req_/),
    });
    expect(code).toBe(4);
  });

  test('--api-key overrides the environment', async () => {
    const env = { MEMORY_API_KEY: 'not-a-key-of-this-server' };
    const argv = ['save', '--user', 'save', 'x', '--api-key', server.key];
    expect(await memory(argv, { env })).toMatchObject({ code: 0 });
  });
});

describe('memory list', () => {
  const content = 'tab\there, back\\slash\nand a new line';

  test('in a pipe, prints one full tab-separated line per memory, without a header', async () => {
    const { id, createdAt } = await server.client.save({ userId: 'tsv', content });
    const { stdout, stderr } = await memory(['list', '--user', 'tsv']);
    const escaped = 'tab\\there, back\\\\slash\\nand a new line';
    expect(stdout).toBe(`${id}\tmemory\tcomplete\t${createdAt}\t${escaped}\n`);
    expect(stderr).toBe('');
  });

  test('on a terminal, prints a table that fits, with only the content cut', async () => {
    await server.client.save({ userId: 'table', content: '漢字 😀 '.repeat(40) });
    const { id } = await server.client.save({ userId: 'table', content: 'short\u001b[31m' });
    const { stdout } = await memory(['list', '--user', 'table'], { terminal: 80 });
    const [header, first, second] = lines(stdout);
    expect(header).toMatch(/^ID +AGE +CONTENT$/);
    expect(first).toStartWith(id);
    expect(first).toEndWith('short\\u001b[31m');
    expect(second).toEndWith('…');
    expect(lines(stdout).filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
  });

  test('--json prints the page as the API returns it', async () => {
    const { stdout } = await memory(['list', '--user', 'tsv', '--json']);
    expect(JSON.parse(stdout)).toEqual(await server.client.list({ userId: 'tsv' }));
  });

  test('an empty list is not a failure', async () => {
    const { code, stdout, stderr } = await memory(['list', '--user', 'nobody']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe('nobody has no memories.\n');
  });

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

  test('--all prints every page; with --json, one object per line', async () => {
    const argv = ['list', '--user', 'pages', '--all', '--limit', '1'];
    expect(lines((await memory(argv)).stdout)).toHaveLength(3);
    const contents = lines((await memory([...argv, '--json'])).stdout).map(
      (line) => JSON.parse(line).content,
    );
    expect(contents).toEqual(['3', '2', '1']);
  });

  test('--all on a terminal prints a table for each page', async () => {
    const argv = ['list', '--user', 'pages', '--all', '--limit', '2'];
    const { stdout } = await memory(argv, { terminal: 80 });
    expect(lines(stdout).map((line) => line.split(/ +/).at(-1))).toEqual([
      ...['CONTENT', '3', '2', 'CONTENT', '1'],
    ]);
  });
});

test('a list on a terminal shows the names of documents', async () => {
  const userId = 'titles';
  const text = `# Copyright ${'x'.repeat(200)}`;
  await server.client.ingest.document({ userId, data: { text, title: 'Handbook' } });
  await server.client.ingest.document({ userId, externalId: 'docs/faq.md', data: { text } });
  await server.client.ingest.document({ userId, data: { text: 'Plain is plain', title: 'Plain' } });
  const argv = ['list', '--user', userId, '--order', 'asc'];
  const shown = lines((await memory(argv, { terminal: 120 })).stdout);
  expect(shown[1]).toContain('  Handbook: # Copyright');
  expect(shown[2]).toContain('  docs/faq.md: # Copyright');
  expect(shown[3]).toContain('  Plain is plain');
  expect(lines((await memory(argv)).stdout)[0]).toEndWith(`\t${text}`);
});

describe('memory list with filters', () => {
  const argv = ['list', '--user', 'narrowed'];
  const contents = async (...options: string[]) => {
    const { code, stdout } = await memory([...argv, ...options]);
    expect(code).toBe(0);
    return lines(stdout).map((line) => line.split('\t')[4]);
  };
  beforeAll(async () => {
    const userId = 'narrowed';
    const metadata = { plan: 'pro', seats: 5, open: true };
    await server.client.save({ userId, content: 'saved', metadata });
    await server.client.save({ userId, content: 'other', metadata: { plan: 'free' } });
    const data = { name: 'event' };
    const origin = { source: 'crm', externalId: '1' };
    await server.client.ingest.record({ type: 'event', userId, ...origin, data, metadata });
  });

  test('by type, source, external id and metadata', async () => {
    expect(await contents('--type', 'event')).toEqual(['event']);
    expect(await contents('--source', 'crm', '--external-id', '1')).toEqual(['event']);
    expect(await contents('--metadata', 'plan=pro')).toEqual(['event', 'saved']);
    expect(await contents('-m', 'plan=pro', '-m', 'seats=5', '--type', 'memory')).toEqual([
      'saved',
    ]);
    expect(await contents('-m', 'seats:=5', '-m', 'open:=true', '--all')).toEqual([
      'event',
      'saved',
    ]);
  });

  test('no match is not a failure, and is reported', async () => {
    const { code, stdout, stderr } = await memory([...argv, '-m', 'plan=none']);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: 'narrowed has no memories that match the filters.\n',
    });
  });
});

describe('one memory', () => {
  test('get prints the memory in full', async () => {
    const saved = await server.client.save({ userId: 'one', content: 'a\nb', metadata: { k: 1 } });
    const piped = await memory(['get', saved.id]);
    expect(lines(piped.stdout)).toContain('content\ta\\nb');
    expect(lines(piped.stdout)).toContain('metadata\t{"k":1}');
    const shown = await memory(['get', saved.id], { terminal: 80 });
    expect(shown.stdout).toEndWith('\n\na\nb\n');
    expect(shown.stdout).not.toContain('externalId');
    const json = await memory(['get', saved.id, '--json']);
    expect(JSON.parse(json.stdout)).toEqual(await server.client.get(saved.id));
  });

  test('update replaces the text, and metadata only if it is given', async () => {
    const { id } = await server.client.save({ userId: 'one', content: 'a', metadata: { k: 1 } });
    expect(await memory(['update', id, '-'], { stdin: 'b\n' })).toEqual({
      code: 0,
      stdout: `${id}\n`,
      stderr: 'Updated.\n',
    });
    expect(await server.client.get(id)).toMatchObject({ content: 'b', metadata: { k: 1 } });
    await memory(['update', id, 'c', '-m', 'n=1']);
    expect(await server.client.get(id)).toMatchObject({ content: 'c', metadata: { n: '1' } });
  });

  test('delete removes the memory, and get then exits with status 3', async () => {
    const { id } = await server.client.save({ userId: 'one', content: 'a' });
    expect(await memory(['delete', id])).toEqual({
      code: 0,
      stdout: '',
      stderr: `Deleted ${id}.\n`,
    });
    const { code, stdout, stderr } = await memory(['get', id]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('memory list --user <id>');
    expect((await memory(['delete', id, '--json'])).stdout).toContain('"code":"not_found"');
    expect((await memory(['update', id, 'x'])).code).toBe(3);
    expect((await memory(['status', id])).code).toBe(3);
  });

  test('delete --json prints the id and reports the deletion', async () => {
    const { id } = await server.client.save({ userId: 'one', content: 'a' });
    const { code, stdout, stderr } = await memory(['delete', id, '--json']);
    expect(JSON.parse(stdout)).toEqual({ memoryId: id, deleted: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('health needs no key', async () => {
    const { code, stdout } = await memory(['health', '--json'], { env: { MEMORY_API_KEY: '' } });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', storage: backend });
    expect(code).toBe(0);
  });

  test('on a terminal, omitted fields do not widen the column of names', async () => {
    const { stdout } = await memory(['health'], { terminal: 80 });
    expect(stdout).toMatch(/^status {14}ok\nversion {13}\d/);
  });
});

test('a page without --limit has 20 memories', async () => {
  const saved = Array.from({ length: 21 }, () => ({ userId: 'page', content: 'x' }));
  await Promise.all(saved.map((one) => server.client.save(one)));
  const { stdout, stderr } = await memory(['list', '--user', 'page']);
  expect(lines(stdout)).toHaveLength(20);
  expect(stderr).toStartWith('More results are available: add --all, or --cursor ');
});
