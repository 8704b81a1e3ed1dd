import { describe, expect, test } from 'bun:test';
import { startTestServer } from '../support/server.ts';
import { event, expectRan, lines, withMemory } from './command.ts';
import { type Files, foldersFor, names } from './folder.ts';

const { memory } = await withMemory();
const inFolder = foldersFor(memory);

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\n\0\0', 'latin1');

const long = `${'x'.repeat(200)}/${'y'.repeat(100)}.md`;
const tooLong = `${long}: externalId: must be at most 256 characters`;

const notText = (name: string) =>
  `${name} is not UTF-8 text. ` +
  `Decompress it, or convert it: iconv -f <charset> -t UTF-8 ${name}`;

describe('an unreadable file', () => {
  const bad: Files = {
    'a.md': 'a',
    'empty.md': ' \n',
    'latin.txt': Buffer.from('caf\xe9', 'latin1'),
    'binary.txt': 'a\0b',
    'image.txt': png,
    'r.pdf': '%PDF-1.7',
    'page.html': Buffer.from('<meta charset="x-none"><p>\xe9', 'latin1'),
    'script.html': '<script>x</script>',
    'z.md': 'z',
  };

  test('is reported with the reason, and the other files are ingested', async () => {
    using folder = inFolder('bad', bad);
    const { code, stdout, stderr } = await folder.ingest([...Object.keys(bad), 'none.md']);
    expect(names(stdout)).toEqual(['a.md', 'z.md']);
    expect(lines(stderr)).toEqual([
      'empty.md contains no text.',
      notText('latin.txt'),
      notText('binary.txt'),
      notText('image.txt'),
      'r.pdf is application/pdf, not text. Convert it to text first: pdftotext r.pdf',
      notText('page.html'),
      'script.html contains no text.',
      'File not found: none.md. Use - to read from stdin.',
      '2 accepted, 8 failed.',
    ]);
    expect(code).toBe(1);
  });

  test('a rejection by the service is reported with the file name', async () => {
    await using small = await startTestServer({ MEMORY_MAX_BODY_BYTES: '2000' });
    using folder = inFolder('small', { 'a.md': 'a', 'b.md': 'b'.repeat(3000), [long]: 'c' });
    const env = { MEMORY_BASE_URL: small.url, MEMORY_API_KEY: small.key };
    const { stdout, ...ran } = await folder.ingest(['.'], { env });
    expect(names(stdout)).toEqual(['a.md']);
    expectRan(ran, 1, 'b.md: the body must be at most 2000 bytes', tooLong);
  });

  test('a file over 32 MiB is not read into memory', async () => {
    using folder = inFolder('huge', { 'huge.txt': Buffer.alloc(33 * 1024 * 1024, 97) });
    expect((await folder.ingest(['huge.txt'])).stderr).toContain('huge.txt is over 32 MiB');
  });

  test('a pipe that does not end is not read into memory', async () => {
    using folder = inFolder('endless', {});
    const pull = (pipe: ReadableStreamDefaultController<Uint8Array>) =>
      pipe.enqueue(Buffer.alloc(1024 * 1024, 97));
    const ran = await folder.ingest(['-'], { stdin: new ReadableStream({ pull }) });
    expectRan(ran, 1, 'The input is over 32 MiB');
  });
});

const utf16 = Buffer.from('\ufeffhé', 'utf16le');
const windows = '\ufeff<meta charset=windows-1252><p>hé';
test.each<[string, string, string | Uint8Array, string]>([
  ['UTF-16', 'a.txt', utf16, 'hé'],
  ['UTF-16BE', 'a.txt', Buffer.from(utf16).swap16(), 'hé'],
  ['declared in HTML', 'a.html', Buffer.from('<meta charset=ISO-8859-1>h\xe9', 'latin1'), 'hé'],
  ['declared in XHTML', 'a.xhtml', Buffer.from('<?xml encoding="latin1"?>h\xe9', 'latin1'), 'hé'],
  ['UTF-8 declared as MySQL does', 'a.html', '<meta charset=utf8mb4>hé', 'hé'],
  ['UTF-8 with a false declaration', 'a.html', '<meta charset=euc-jp>h\ufffe', 'h\ufffe'],
  ['UTF-8 with a byte order mark', 'a.html', '\ufeff<p>hé', 'hé'],
  ['UTF-8 with a byte order mark and another declaration', 'a.html', windows, 'hé'],
  ['UTF-8 in XHTML', 'a.xhtml', '<script src="a>b.js" /><p>h<canvas/>é</p>', 'hé'],
])('reads the character set %s', async (_, name, bytes, text) => {
  using folder = inFolder('charset', { [name]: bytes });
  expect(await folder.read(name)).toMatchObject({ text });
});

test.each([
  ['a heading', 'a.md', '\n# A title ##\ntext', 'A title'],
  ['front matter', 'a.markdown', '---\r\ntags: x\r\ntitle: "A: b"\r\n---\r\n# No', 'A: b'],
  ['front matter without a title', 'a.md', '---\ntags: x\n---\n\n# Head', 'Head'],
  ['front matter with a multi-line title', 'a.md', '---\ntitle: >\n  x\n---\ny', undefined],
  ['a heading further down', 'a.md', 'text\n# No', undefined],
  ['plain text', 'a.txt', '# No', undefined],
  ['a heading that is too long', 'a.md', `# a${'😀'.repeat(2_000)}\n\ntext`, undefined],
  ['a heading that is a little too long', 'a.md', `# ${'x'.repeat(1_000)}\n\ntext`, undefined],
])('extracts the title of Markdown and keeps its text: %s', async (_, name, text, title) => {
  using folder = inFolder('markdown', { [name]: text });
  const data = await folder.read(name);
  expect(data).toMatchObject({ text });
  expect(data.title).toBe(title);
});

test.each([
  ['attributes', `<p ${'a=">" '.repeat(200_000)}>kept</p>`],
  ['attributes of a script', `<script ${'a=">" '.repeat(200_000)}>lost</script>kept`],
  ['tags that do not end', `${'<a'.repeat(200_000)}><p>kept</p>`],
])('reads a page with hundreds of thousands of %s', async (_, text) => {
  using folder = inFolder('hostile', { 'a.html': text });
  expect((await folder.read('a.html')).text).toBe('kept');
});

describe('a folder with unusual files', () => {
  test('skips files without text; naming one is an error', async () => {
    const odd = { 'd/a.md': 'a', 'd/b.md': ' \n', 'd/c.html': '<script>x</script>' };
    using folder = inFolder('odd', odd);
    const { stdout, ...ran } = await folder.ingest(['d']);
    expect(names(stdout)).toEqual(['d/a.md']);
    expectRan(ran, 0, 'Skipped 2 files: without text (2).');
    expect(await folder.ingest(['d', 'd/b.md'])).toMatchObject({ code: 0 });
    expect(await folder.ingest(['d/b.md', 'd/a.md'])).toMatchObject({ code: 1 });
  });

  test('does not treat a file named - as stdin', async () => {
    using folder = inFolder('dash', { '-': 'of the file' });
    const argv = ['./-', '--dry-run', '--json'];
    const { stdout } = await folder.ingest(argv, { stdin: 'typed' });
    expect(JSON.parse(lines(stdout)[0] ?? '')).toMatchObject({
      externalId: '-',
      data: { text: 'of the file' },
    });
  });

  test('reports each file on one line, even if its name contains newlines', async () => {
    const name = 'a\nError: b\x1b[31m.md';
    using folder = inFolder('names', { [`d/${name}`]: 'a\0b', 'd/z\ny.md': 'z' });
    const { stdout, stderr } = await folder.ingest(['d'], { terminal: 80 });
    expect(lines(stdout)).toEqual([expect.stringMatching(/^mem_\w+ {2}d\/z\\ny\.md$/)]);
    const [first, ...rest] = lines(stderr);
    expect(first).toStartWith('d/a\\nError: b\\u001b[31m.md is not UTF-8 text. ');
    expect(rest.at(-1)).toBe('1 accepted, 1 failed.');
  });
});

test('a dry run reports large files, and a path that is too long for an external id', async () => {
  const ofMiB = (count: number) => 'x'.repeat(count * 1024 * 1024);
  const files = { 'a.txt': ofMiB(5), 'b.txt': 'b', 'c.txt': ofMiB(17), [long]: 'd' };
  using folder = inFolder('dry', files);
  const { stdout, ...ran } = await folder.ingest(['.', '--dry-run']);
  const limit = ': is larger than 5 MiB, the default limit of the service';
  expectRan(ran, 1, `a.txt${limit}`, `c.txt${limit}`, tooLong, /\n1 valid, 3 failed\.\n$/);
  expect(stdout).toBe('b.txt\n');
});

const records = `${event('u', 'x')}\n`.repeat(2);
const wide = Buffer.from(`\ufeff${records}`, 'utf16le');
const problem = (name: string, file: string) =>
  `Error: ${name} is not UTF-8 text.\n` +
  `Decompress it, or convert it: iconv -f <charset> -t UTF-8 ${file}\n`;
const endpoints = [
  ...['ingest batch', 'import', 'import --from chatgpt --user u'],
  ...['ingest support', 'ingest chat', 'ingest record'],
];

test.each<[string, Uint8Array]>([
  ['UTF-16', wide],
  ['UTF-16BE', Buffer.from(wide).swap16()],
  ['gzip', Bun.gzipSync(Buffer.from(records))],
  // As ChatGPT exports data.
  ['ZIP', Buffer.from('PK\x03\x04\x14\0')],
  ['Latin-1', Buffer.from('"café": 1}', 'latin1')],
])('%s is reported once per file, and on stdin, with a hint', async (_, bytes) => {
  using folder = inFolder('encoded', { 'in.jsonl': bytes, 'in.json': bytes });
  for (const file of [folder.file('in.jsonl'), folder.file('in.json')]) {
    for (const endpoint of endpoints) {
      const ran = await memory([...endpoint.split(' '), file]);
      expect(ran).toEqual({ code: 1, stdout: '', stderr: problem(file, file) });
    }
  }
  const stdin = new Blob([Buffer.from(bytes)]).stream();
  const ran = await memory(['save', '--user', 'u', '-'], { stdin });
  expect(ran).toMatchObject({ code: 1, stderr: problem('The input', '<file>') });
});

test('a record that is not UTF-8 is reported with a hint', async () => {
  const text = '{"userId":"u","data":{"name":"café"}}';
  using folder = inFolder('record', { 'in.json': Buffer.from(text, 'latin1') });
  const file = folder.file('in.json');
  const stderr = problem(file, file);
  expect(await memory(['ingest', 'record', file])).toEqual({ code: 1, stdout: '', stderr });
});
