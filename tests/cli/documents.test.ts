import { describe, expect, test } from 'bun:test';
import { renameSync, symlinkSync } from 'node:fs';
import type { Memory } from '../../sdk/index.ts';
import { holdTask } from '../support/queue.ts';
import { expectRan, lines, withMemory } from './command.ts';
import { type Files, foldersFor, names } from './folder.ts';

const { server, memory } = await withMemory();
const inFolder = foldersFor(memory);

async function storedOf(userId: string): Promise<Map<string | null, Memory>> {
  const stored = new Map<string | null, Memory>();
  for await (const one of server.client.list({ userId })) stored.set(one.externalId, one);
  return stored;
}

const docs = {
  'docs/b.md': '# Second #\n\ntext',
  'docs/a/c.html': '<title>Third</title><p>Hi &amp; bye',
  'docs/a/d.TXT': '\ufeffplain',
  'docs/.hidden/x.md': 'hidden',
  'docs/.y.md': 'hidden',
  'docs/node_modules/x/readme.md': 'installed',
  'docs/logo.png': 'no image',
  'docs/Makefile': 'all:',
};

describe('a folder', () => {
  test('gives its files the same external ids as files that are named directly', async () => {
    using folder = inFolder('names', docs);
    const first = await folder.ingest(['docs']);
    for (const argv of ['docs/', './docs//', 'docs/../docs', 'docs/a docs/b.md', '.']) {
      expect((await folder.ingest(argv.split(' '))).stdout).toBe(first.stdout);
    }
    const files = ['./docs/a/c.html', 'docs//a/d.TXT', 'docs/b.md', 'docs', 'docs/b.md'];
    expect((await folder.ingest(files)).stdout).toBe(first.stdout);
    expect((await storedOf('names')).size).toBe(3);
  });

  test('with links and pipes reads none of them; a link that is named is read', async () => {
    using folder = inFolder('links', { 'docs/a.md': 'a', 'b.md': 'b' });
    symlinkSync('..', folder.file('docs/circle'));
    symlinkSync('../b.md', folder.file('docs/b.md'));
    symlinkSync('nowhere', folder.file('docs/c.md'));
    expect(Bun.spawnSync(['mkfifo', folder.file('docs/fifo')]).exitCode).toBe(0);
    const { stdout, ...ran } = await folder.ingest(['docs']);
    expectRan(ran, 0, 'Skipped 4 files: links (3), pipes and devices (1).');
    expect(names(stdout)).toEqual(['docs/a.md']);
    expect(await folder.ingest(['docs/b.md'])).toMatchObject({ code: 0 });
    expectRan(await folder.ingest(['docs/c.md']), 1, /^Error: File not found: docs\/c\.md\.\n/);
  });

  test.each([
    ['link', 'docs/a/b.md', 'outside/b.md'],
    ['link', 'docs/a', 'outside'],
    ['pipe', 'docs/a/b.md', 'pipe'],
  ])('is not left by a %s that replaced %s after it was found', async (_, replaced, target) => {
    const files = { 'docs/a/b.md': 'b', 'docs/c.md': '', 'docs/d.md': 'd' };
    using folder = inFolder(target, { ...files, 'outside/b.md': 'secret' });
    expect(Bun.spawnSync(['mkfifo', folder.file('pipe')]).exitCode).toBe(0);
    // The command lists the folder, and then reads stdin and the files in order.
    const pull = (stdin: ReadableStreamDefaultController<Uint8Array>) => {
      renameSync(folder.file(replaced), folder.file('former'));
      if (target === 'pipe') renameSync(folder.file('pipe'), folder.file(replaced));
      else symlinkSync(folder.file(target), folder.file(replaced));
      stdin.enqueue(Buffer.from('from stdin'));
      stdin.close();
    };
    const stdin = new ReadableStream({ pull }, { highWaterMark: 0 });
    const ran = await folder.ingest(['-', 'docs'], { stdin });
    const reason = /^docs\/a\/b\.md (?:was replaced after it was found|cannot be read \()/;
    expectRan(ran, 1, reason, 'Skipped 1 file: without text (1).');
    const stored = [...(await storedOf(target)).values()].map(({ content }) => content);
    expect(stored.toSorted()).toEqual(['d', 'from stdin']);
  });

  test('without documents is not an error; the kinds of its files are reported', async () => {
    using folder = inFolder('none', { 'pictures/a.png': 'x', 'pictures/b.png': 'x' });
    const skipped = 'Skipped 2 files: .png (2). To ingest a skipped file, pass its name.';
    const stderr = `0 accepted, 0 failed.\n${skipped}\n`;
    expect(await folder.ingest(['pictures'])).toEqual({ code: 0, stdout: '', stderr });
  });
});

test('a second run stores a document again, once, if its memory has changed or is gone', async () => {
  using folder = inFolder('back', { 'a.md': 'first' });
  const ingest = () => folder.ingest(['a.md', '-m', 'none:=-0']);
  let id = (await ingest()).stdout.trim();
  const change: (() => unknown)[] = [
    async () => {
      folder.write({ 'a.md': 'second' });
      await ingest();
      folder.write({ 'a.md': 'first' });
    },
    () => server.client.update(id, { content: 'by hand' }),
    () => server.client.update(id, { metadata: { title: 'By hand' } }),
    ...Array(3).fill(() => server.client.delete(id)),
  ];
  const ids = new Set([id]);
  for (const make of change) {
    await make();
    const ran = await ingest();
    expectRan(ran, 0, /^Queued\./);
    id = ran.stdout.trim();
    ids.add(id);
    const { content, metadata } = await server.client.get(id);
    expect({ content, metadata }).toEqual({
      content: 'first',
      metadata: { mimeType: 'text/markdown', none: 0 },
    });
    await server.client.waitUntilComplete(id);
    const again = await ingest();
    expectRan(again, 0, 'Unchanged.');
    expect(again.stdout).toBe(ran.stdout);
  }
  expect(ids.size).toBe(4);
});

describe('a long run', () => {
  const paths = Array.from({ length: 40 }, (_, at) => `many/${100 + at}.md`);
  const many: Files = Object.fromEntries(paths.map((path) => [path, path.repeat(10_000)]));

  test.each([
    ['in a pipe', {}],
    ['on a terminal', { terminal: 80 }],
  ])('%s prints its progress to stderr every few seconds', async (where, around) => {
    using folder = inFolder(where, many);
    const { stdout, stderr } = await folder.ingest(['many'], { tickMs: 1_000, ...around });
    expect(lines(stdout).map((line) => line.split(/ {2}|\t/)[1])).toEqual(paths);
    expect(stderr).toMatch(/^\d+% {2}\d+ records {2}\d+\/s {2}\d+ s left\n/);
    expect(stderr).toEndWith('\n40 accepted, 0 failed.\n');
  });

  test('stops on Ctrl-C with exit 130, and the same command resumes', async () => {
    using folder = inFolder('stopped', many);
    const interruption = new AbortController();
    const onOutput = (text: string) => {
      if (text.includes('many/110.md')) interruption.abort('SIGINT');
    };
    const around = { interrupted: interruption.signal, onOutput };
    const { stdout, ...ran } = await folder.ingest(['many'], around);
    const done = lines(stdout).length;
    expect(done).toBeLessThan(40);
    expectRan(ran, 130, `Stopped after ${done} records. Run the same command again`);
    expect((await folder.ingest(['many'])).code).toBe(0);
    expect((await storedOf('stopped')).size).toBe(40);
  });
});

test('text on stdin is kept unchanged, and stored each time without an external id', async () => {
  const argv = ['ingest', 'document', '--user', 'stdin', '-', '--title', 'T'];
  const send = () => memory(argv, { stdin: ' a\r\n\n' });
  const [first, second] = [await send(), await send()];
  const stored = { content: ' a\r\n\n', externalId: null, metadata: { title: 'T' } };
  expect(await server.client.get(first.stdout.trim())).toMatchObject(stored);
  expect(second.stdout).not.toBe(first.stdout);
  expect(first.stderr + second.stderr).not.toContain('Unchanged');
});

test('an unchanged document is sent again if its processing has failed', async () => {
  using folder = inFolder('failed', { 'a.md': 'a' });
  const { stdout } = await folder.ingest(['a.md', '--wait']);
  const fail = await holdTask(server, stdout.trim());
  await fail('no luck');
  const again = await folder.ingest(['a.md']);
  expect(again.stdout).toBe(stdout);
  expectRan(again, 0, /^Queued\./);
  expect(await server.client.get(stdout.trim())).toMatchObject({ content: 'a', version: 2 });
});

test('a document that the service already stores is unchanged, even if sent with a new key', async () => {
  using folder = inFolder('key', { 'a.md': 'a', 'b.md': 'b' });
  const { stdout } = await folder.ingest(['a.md', '--wait', '--idempotency-key', 'first']);
  const again = await folder.ingest(['a.md', '--idempotency-key', 'second']);
  expect(again.stdout).toBe(stdout);
  expect(again.stderr).toStartWith(`Unchanged. To show the memory: memory get ${stdout}`);
  const all = await folder.ingest(['.', '--idempotency-key', 'third']);
  expect(all.stderr).toContain('1 accepted, 1 unchanged, 0 failed.');
});

test('--wait waits for an unchanged document, too', async () => {
  using folder = inFolder('waited', { 'a.md': 'a' });
  const { stdout } = await folder.ingest(['a.md']);
  const stderr = 'Complete.\n';
  expect(await folder.ingest(['a.md', '--wait'])).toEqual({ code: 0, stdout, stderr });
});
