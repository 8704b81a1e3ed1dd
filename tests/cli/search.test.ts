import { describe, expect, test } from 'bun:test';
import { json, startFaultServer } from '../support/fault-server.ts';
import { lines, withMemory } from './command.ts';

const userId = 'searcher';
const { server, memory } = await withMemory();
const metadata = { plan: 'pro' };
await server.client.save({ userId, content: 'Asked for a refund\nof order 5512', metadata });
await server.client.save({ userId, content: 'Likes 😀\u0007 «quoted» tea\u001b[31m' });
const data = { subject: 'Refund', comments: [{ author: 'user', content: 'Where is it?' }] };
const { memoryId } = await server.client.ingest.support({ userId, source: 'crm', data });
await server.client.waitUntilComplete(memoryId);

const search = (...argv: string[]) => ['search', '--user', userId, ...argv];

describe('memory search', () => {
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
    const boldYellow = '\u001b[1;33mtea\u001b[22;39m';
    expect(stdout).toContain(boldYellow);
    expect(stdout).toContain('  Likes 😀\\u0007 «quoted» \u001b[1;33m');
    expect(stdout).not.toContain('\u001b[31m');
    const plain = await memory(search('tea'), { terminal: 80 });
    expect(plain.stdout).toContain('  Likes 😀\\u0007 «quoted» tea\\u001b[31m\n');
    expect(plain.stdout).not.toContain('\u001b');
  });

  test('does not say that words found a memory if only meanings were compared', async () => {
    using other = startFaultServer(json(200, { items: [], meaning: 'partial' }));
    const at = ['--base-url', other.url, '--api-key', 'a-key'];
    const { stderr } = await memory([...search('tea', '--mode', 'meaning'), ...at]);
    expect(stderr).toBe(
      'Nothing was found. To list what there is: memory list --user searcher\n' +
        'Some memories have not been embedded yet; until then, only words find them.\n',
    );
  });
});

test('on a terminal, a word that is longer than a line is broken', async () => {
  const word = 'x'.repeat(120);
  await server.client.save({ userId: 'long-word', content: `refund ${word}` });
  const { stdout } = await memory(['search', '--user', 'long-word', 'refund'], { terminal: 50 });
  expect(lines(stdout).filter((line) => Bun.stringWidth(line) > 50)).toEqual([]);
  expect(stdout.replace(/\s/g, '')).toContain(word);
});
