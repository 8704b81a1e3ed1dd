import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { renameSync, symlinkSync } from 'node:fs';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt } from './command.ts';
import { foldersFor, names } from './folder.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
const inFolder = foldersFor(() => memoryAt(server));

describe('a folder with links to targets outside it', () => {
  const secrets = { 'docs/a.md': 'a', 'docs-2/secret.md': 'secret', 'secret.md': 'secret' };
  function withLinks(userId: string) {
    const folder = inFolder(userId, secrets);
    symlinkSync('../secret.md', folder.file('docs/file.md'));
    symlinkSync('../docs-2', folder.file('docs/folder'));
    symlinkSync(folder.file('docs-2/secret.md'), folder.file('docs/absolute.md'));
    symlinkSync('file.md', folder.file('docs/twice.md'));
    return folder;
  }
  const links = ['absolute.md', 'file.md', 'folder', 'twice.md'].map((name) => `docs/${name}`);

  test.each([[['docs']], [['docs/**']], [['docs/*.md']], [['docs', '--dry-run']]])(
    'reports and counts the links and follows none of them: %p',
    async (argv) => {
      using folder = withLinks('outside');
      const { code, stdout, stderr } = await folder.ingest(argv);
      expect(stdout).toContain('docs/a.md');
      expect(lines(stdout)).toHaveLength(1);
      for (const link of links) {
        expect(stderr).toContain(`${link} is a link to a target outside its folder`);
      }
      expect(stderr).toContain(', 4 links not followed, 0 failed.\n');
      expect(code).toBe(0);
      const { items } = await server.client.list({ userId: 'outside' });
      expect(items.map(({ content }) => content)).not.toContain('secret');
    },
  );

  test('reports the links with --json as well', async () => {
    using folder = withLinks('outside-json');
    const { stdout } = await folder.ingest(['docs', '--json']);
    const rows = lines(stdout).map((line) => JSON.parse(line));
    const skipped = rows.filter((row) => row.skipped?.code === 'link_outside');
    expect(skipped.map(({ externalId }) => externalId)).toEqual(links);
    expect(rows).toHaveLength(5);
  });

  test('a folder with only such links: reports the links and the error, exit 1', async () => {
    using folder = inFolder('only-links', { 'docs/.keep': '', 'secret.md': 'secret' });
    symlinkSync('../secret.md', folder.file('docs/file.md'));
    const { code, stdout, stderr } = await folder.ingest(['docs']);
    expect(stderr).toContain('docs/file.md is a link to a target outside its folder');
    expect(stderr).toContain('No documents in the folder docs');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  test('follows a link that is itself the argument, to a folder or a file', async () => {
    using folder = withLinks('meant');
    symlinkSync('docs-2', folder.file('linked'));
    expect(names((await folder.ingest(['linked'])).stdout)).toEqual(['linked/secret.md']);
    expect((await folder.ingest(['docs/file.md'])).code).toBe(0);
  });
});

describe('a file that is replaced after it was found', () => {
  const count = 40;
  const docs = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`docs/${100 + n}/a.md`, `text ${n}`]),
  );
  const last = `docs/${100 + count - 1}`;

  test.each([
    ['the file, by a link', `${last}/a.md`, 'outside/a.md'],
    ['its folder, by a link', last, 'outside'],
    ['the file, by a pipe', `${last}/a.md`, 'pipe'],
  ])('%s, is not read', async (_, replaced, target) => {
    using folder = inFolder('replaced', { ...docs, 'outside/a.md': 'secret' });
    execFileSync('mkfifo', [folder.file('pipe')]);
    let isReplaced = false;
    // The first output appears long before the command reads the last file.
    const onOutput = () => {
      if (isReplaced) return;
      isReplaced = true;
      renameSync(folder.file(replaced), folder.file('former'));
      if (target === 'pipe') renameSync(folder.file('pipe'), folder.file(replaced));
      else symlinkSync(folder.file(target), folder.file(replaced));
    };
    const { code, stdout, stderr } = await folder.ingest(['docs'], { onOutput });
    expect(stderr).toContain(`${last}/a.md: The file was replaced after it was found`);
    expect({ code, ingested: lines(stdout).length }).toEqual({ code: 1, ingested: count - 1 });
    const { items } = await server.client.list({ userId: 'replaced', limit: 100 });
    expect(items.map(({ content }) => content)).not.toContain('secret');
  });
});

test('a pattern does not report links in folders that it cannot match', async () => {
  using folder = inFolder('shallow', { 'docs/a.md': 'a', 'docs/deep/b.md': 'b' });
  symlinkSync('nowhere', folder.file('docs/deep/c.md'));
  const { code, stdout, stderr } = await folder.ingest(['docs/*.md']);
  expect(names(stdout)).toEqual(['docs/a.md']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '1 ingested, 0 failed.\n' });
});
