import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { temporaryFolder } from '../support/folder.ts';
import { withMemory } from './command.ts';
import { startService } from './service.ts';

const { server, memory } = await withMemory();

async function contentsOf(userId: string): Promise<string[]> {
  const contents: string[] = [];
  for await (const { content } of server.client.list({ userId, order: 'asc' })) {
    contents.push(content);
  }
  return contents;
}

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

test('a memory that was deleted during --wait: exit 3 and the reason', async () => {
  await using service = startService(({ url }) =>
    url.endsWith('/status')
      ? Response.json({ items: [], notFound: ['mem_a'] })
      : Response.json({ memoryId: 'mem_a', status: 'processing' }, { status: 202 }),
  );
  const argv = ['ingest', 'document', '--user', 'u', '-', '--wait'];
  const ran = await memory(argv, { ...service, stdin: 'text' });
  expect(ran).toMatchObject({ code: 3, stderr: 'Failed: not found\n' });
});
