import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt } from './command.ts';

const userId = 'searcher';
let server: TestServer;
let memory: ReturnType<typeof memoryAt>;
beforeAll(async () => {
  server = await startTestServer();
  memory = memoryAt(server);
  const metadata = { plan: 'pro' };
  await server.client.save({ userId, content: 'Asked for a refund\nof order 5512', metadata });
  await server.client.save({ userId, content: 'Likes 😀\u0007 «quoted» tea\u001b[31m' });
  const data = { subject: 'Refund', comments: [{ author: 'user', content: 'Where is it?' }] };
  const { memoryId } = await server.client.ingest.support({ userId, source: 'crm', data });
  await server.client.waitUntilComplete(memoryId);
});
afterAll(() => server.stop());

const search = (...argv: string[]) => ['search', '--user', userId, ...argv];

describe('memory search', () => {
  test('in a pipe, prints id, score, type, time and plain snippet, best match first', async () => {
    const { code, stdout, stderr } = await memory(search('refund of order 5512'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { items } = await server.client.search({ userId, query: 'refund of order 5512' });
    const rows = lines(stdout).map((line) => line.split('\t'));
    expect(rows).toEqual(
      items.map(({ id, score, type, createdAt, snippet }) => {
        return [id, `${score}`, type, createdAt, snippet];
      }),
    );
    expect(rows.map(([, , type]) => type)).toEqual(['memory', 'ticket']);
    expect(rows[0]?.[4]).toBe('Asked for a refund of order 5512');
  });

  test('--json prints the response of the API', async () => {
    const { stdout } = await memory(search('refund', '--json'));
    expect(JSON.parse(stdout)).toEqual(await server.client.search({ userId, query: 'refund' }));
  });

  test('--explain shows how each memory was found, and the parts of its score', async () => {
    const argv = search('--explain', '--mode', 'words', 'refund of order 5512');
    const query = { userId, query: 'refund of order 5512', explain: true };
    const { items } = await server.client.search(query);
    const rows = lines((await memory(argv)).stdout).map((line) => line.split('\t').slice(5));
    const names = ['words', 'phrase', 'date', 'meaning'] as const;
    expect(rows).toEqual(
      items.map(({ parts }) => ['words', ...names.map((name) => `${parts?.[name]}`)]),
    );
    const { stdout } = await memory(argv, { terminal: 120 });
    const [best] = items;
    const shares = names.map((name) => `${name} ${best?.parts?.[name]}`).join('  ');
    expect(stdout).toContain(`  score ${best?.score}  ${shares}  (found by words)\n`);
  });

  test('--mode meaning fails without a model', async () => {
    const { code, stderr } = await memory(search('--mode', 'meaning', 'refund'));
    expect(code).toBe(1);
    expect(stderr).toContain('mode: must be auto or words, because this service has no model');
  });

  test('on a terminal, prints the snippet below each memory, within its width', async () => {
    const { stdout } = await memory(search('refund'), { terminal: 50 });
    const found = lines(stdout);
    expect(found.filter((line) => /^mem_\w{32} {2}(ticket {2})?\d+\w$/.test(line))).toHaveLength(2);
    expect(found.filter((line) => line.startsWith('  '))).not.toEqual([]);
    expect(stdout).toContain('  Asked for a refund of order 5512\n');
    expect(found.filter((line) => Bun.stringWidth(line) > 50)).toEqual([]);
  });

  test('on a terminal, shows the title or external id of the document for each result', async () => {
    const [reader, text] = ['reader', `A first line.\n${'word '.repeat(400)}zebra`];
    const path = { externalId: 'docs/long-name-of-a-file.md' };
    const title = { externalId: 'b.md', data: { text, title: 'Animals\u001b[31m' } };
    for (const record of [title, { ...path, data: { text } }]) {
      const { memoryId } = await server.client.ingest.document({ userId: reader, ...record });
      await server.client.waitUntilComplete(memoryId);
    }
    const argv = ['search', '--user', reader, 'zebra'];
    const { stdout } = await memory(argv, { terminal: 100 });
    const heads = lines(stdout).filter((line) => line.startsWith('mem_'));
    expect(heads.map((line) => line.split(/ {2,}/).slice(3)).sort()).toEqual([
      ['Animals\\u001b[31m'],
      [path.externalId],
    ]);
    const narrow = lines((await memory(argv, { terminal: 70 })).stdout);
    expect(narrow.some((line) => line.endsWith('  …name-of-a-file.md'))).toBeTrue();
    expect(narrow.filter((line) => Bun.stringWidth(line) > 70)).toEqual([]);
  });

  test('colors only the matched words', async () => {
    const { stdout } = await memory(search('tea'), { terminal: 80, color: true });
    const boldYellow = '\u001b[1m\u001b[33mtea\u001b[39m\u001b[22m';
    expect(stdout).toContain(boldYellow);
    expect(stdout).toContain('  Likes 😀\\u0007 «quoted» \u001b[1m');
    expect(stdout).not.toContain('\u001b[31m');
    const plain = await memory(search('tea', '--no-color'), { terminal: 80, color: true });
    expect(plain.stdout).toContain('  Likes 😀\\u0007 «quoted» tea\\u001b[31m\n');
    expect(plain.stdout).not.toContain('\u001b');
  });

  test('applies filters and a limit', async () => {
    const idsOf = async (...argv: string[]) =>
      lines((await memory(search('refund', ...argv))).stdout).length;
    expect(await idsOf()).toBe(2);
    expect(await idsOf('--limit', '1')).toBe(1);
    expect(await idsOf('--type', 'ticket')).toBe(1);
    expect(await idsOf('--source', 'crm', '-m', 'subject=Refund')).toBe(1);
    expect(await idsOf('-m', 'plan=pro', '--type', 'memory')).toBe(1);
    expect(await idsOf('-m', 'plan=pro', '--type', 'ticket')).toBe(0);
  });

  test('- reads the query from stdin and treats options in it as words', async () => {
    const piped = await memory(search('-'), { stdin: '"order 5512" --limit OR (\n' });
    expect(piped.code).toBe(0);
    expect(lines(piped.stdout)[0]).toContain('refund of order 5512');
  });

  test('an empty result is not a failure', async () => {
    const answer = await memory(search('zebra'));
    expect(answer).toEqual({ code: 0, stdout: '', stderr: 'Nothing was found.\n' });
  });

  test('a rejection by the service is reported, exit 1', async () => {
    const { code, stderr } = await memory(search('x'.repeat(1001)));
    expect(stderr).toContain('query: must be at most 1000 characters');
    expect(code).toBe(1);
  });

  test('--limit accepts 100', async () => {
    const { code, stdout } = await memory(search('refund', '--limit', '100'));
    expect({ code, found: lines(stdout).length }).toEqual({ code: 0, found: 2 });
  });
});

test('on a terminal, a word that is longer than a line is broken', async () => {
  const word = 'x'.repeat(120);
  await server.client.save({ userId: 'long-word', content: `refund ${word}` });
  const { stdout } = await memory(['search', '--user', 'long-word', 'refund'], { terminal: 50 });
  expect(lines(stdout).filter((line) => Bun.stringWidth(line) > 50)).toEqual([]);
  expect(stdout.replace(/\s/g, '')).toContain(word);
});

test('--no-color also applies to errors', async () => {
  const around = { terminal: 80, color: true } as const;
  expect((await memory(['get', ''], around)).stderr).toContain('\u001b[31mError:');
  expect((await memory(['get', '', '--no-color'], around)).stderr).toStartWith('Error: ');
});
