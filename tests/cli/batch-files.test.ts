import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt, temporaryFolder } from './command.ts';

let server: TestServer;
let memory: ReturnType<typeof memoryAt>;
beforeAll(async () => {
  server = await startTestServer();
  memory = memoryAt(server);
});
afterAll(() => server.stop());

const event = (userId: string, name: string) =>
  JSON.stringify({ type: 'event', userId, data: { name } });
const batch = ['ingest', 'batch'];

describe('--errors-out', () => {
  test('truncates the file of an earlier run', async () => {
    using folder = temporaryFolder();
    const out = folder.file('bad.jsonl');
    writeFileSync(out, 'of an earlier run\n'.repeat(100));
    await memory([...batch, '-', '--errors-out', out], { stdin: `${event('anew', 'a')}\n{` });
    const kept = lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line));
    expect(kept).toMatchObject([{ line: 2, error: 'invalid_json' }]);
    await memory([...batch, '-', '--errors-out', out], { stdin: event('anew', 'a') });
    expect(readFileSync(out, 'utf8')).toBe('');
  });

  test.each([['batch'], ['record']])('of ingest %s cannot be the input file', async (endpoint) => {
    using folder = temporaryFolder();
    const file = folder.file('in.jsonl');
    const text = `${event('kept', 'a')}\n{`;
    writeFileSync(file, text);
    symlinkSync(file, folder.file('link'));
    for (const out of [file, `${folder.path}/./in.jsonl`, folder.file('link')]) {
      const { code, stderr } = await memory(['ingest', endpoint, file, '--errors-out', out]);
      expect(stderr).toContain('--errors-out would overwrite the input file');
      expect(code).toBe(2);
    }
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each([
    ['no/such/bad.jsonl', (path: string) => `the folder ${path}/no/such does not exist.\n`],
    ['', (path: string) => `${path}/ is a folder, not a file.\n`],
  ])('that cannot be written is reported before anything is sent: %p', async (name, why) => {
    using folder = temporaryFolder();
    const argv = [...batch, '-', '--errors-out', `${folder.path}/${name}`];
    const { code, stderr } = await memory(argv, { stdin: `${event('early', 'a')}\n{` });
    expect(stderr).toBe(`Error: Cannot write the --errors-out file: ${why(folder.path)}`);
    expect(code).toBe(1);
    expect((await server.client.list({ userId: 'early' })).items).toEqual([]);
  });

  test('overwrites an existing file next to the input file', async () => {
    using folder = temporaryFolder();
    const [file, out] = [folder.file('in.jsonl'), folder.file('bad.jsonl')];
    writeFileSync(file, `${event('again', 'a')}\n{`);
    writeFileSync(out, 'of an earlier run\n');
    const { code, stdout } = await memory([...batch, file, '--errors-out', out]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'accepted\t1\nreplayed\t0\nfailed\t1\n' });
    expect(lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line).line)).toEqual([2]);
  });
});

test('bad lines of concurrent requests are reported and stored in file order', async () => {
  using folder = temporaryFolder();
  const out = folder.file('bad.jsonl');
  const all = Array.from({ length: 2_600 }, (_, at) => event('order', at % 500 < 3 ? '' : 'x'));
  const argv = [...batch, '-', '--errors-out', out];
  const { stderr } = await memory(argv, { stdin: all.join('\n') });
  const bad = all.flatMap((_, at) => (at % 500 < 3 ? [at + 1] : []));
  expect([...stderr.matchAll(/^line (\d+):/gm)].map(([, line]) => Number(line))).toEqual(bad);
  expect(lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line).line)).toEqual(bad);
});

test('a line that exceeds the body limit is reported, and the other lines are ingested', async () => {
  const stdin = [event('far', 'a'), event('far', 'x'.repeat(21 << 20)), event('far', 'b')];
  const { code, stdout } = await memory([...batch, '-', '--json'], { stdin: stdin.join('\n') });
  const failures = [{ line: 2, error: 'payload_too_large', message: expect.any(String) }];
  expect(JSON.parse(stdout)).toEqual({ accepted: 2, replayed: 0, failed: 1, failures });
  expect(stdout).not.toContain('baseUrl');
  expect(code).toBe(1);
});

test('a JSON array and a record that spans several lines are accepted', async () => {
  const records = ['a', 'b'].map((name) => JSON.parse(event('array', name)));
  for (const [value, count] of [
    [records, 2],
    [records[0], 1],
  ] as const) {
    const { code, stdout } = await memory([...batch, '-'], {
      stdin: JSON.stringify(value, null, 2),
    });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${count}`),
    });
  }
  const exported = await memory(['export', '--user', 'array']);
  const array = `[${lines(exported.stdout).join(',')}]`;
  const { stdout } = await memory(['import', '-'], { stdin: array });
  expect(stdout).toBe(`imported\t0\nskipped\t${lines(exported.stdout).length}\nfailed\t0\n`);
});

test('a record whose first line contains fields is accepted, like the ticket in docs/cli.md', async () => {
  const page = await Bun.file(`${import.meta.dir}/../../docs/cli.md`).text();
  const [, stdin = ''] = /^\$ cat ticket\.json\n(.*?)\n\n/ms.exec(page) ?? [];
  expect(JSON.parse(stdin)).toHaveProperty('userId');
  expect(lines(stdin).length).toBeGreaterThan(1);
  expect(await memory([...batch, '-'], { stdin })).toEqual({
    code: 0,
    stdout: 'accepted\t1\nreplayed\t0\nfailed\t0\n',
    stderr: '',
  });
});

describe('the error for a file that another command accepts names that command', () => {
  test('records passed to import, memories passed to ingest', async () => {
    const { id } = await server.client.save({ userId: 'other', content: 'a' });
    const exported = await memory(['export', '--user', 'other']);
    const ingested = await memory([...batch, '-'], { stdin: exported.stdout });
    expect(ingested.stderr).toContain('\nTo import them: memory import -\n');
    const imported = await memory(['import', '-'], { stdin: event('other', 'a') });
    expect(imported.stderr).toContain('\nTo ingest them: memory ingest batch -\n');
    expect([ingested.code, imported.code]).toEqual([1, 1]);
    const { items } = await server.client.list({ userId: 'other' });
    expect(items.map((one) => one.id)).toEqual([id]);
  });

  test('an id alone does not make a record a memory', async () => {
    const stdin = JSON.stringify({ ...JSON.parse(event('other', 'a')), id: 'r1' });
    const ingested = await memory([...batch, '-'], { stdin });
    expect(ingested.stderr).toContain('line 1: id: is not a known field');
    const imported = await memory(['import', '-'], { stdin });
    expect(imported.stderr).toContain('\nTo ingest them: memory ingest batch -\n');
  });
});

test('--dry-run reports a line that is too large, and every other invalid line', async () => {
  using folder = temporaryFolder();
  const out = folder.file('bad.jsonl');
  const bad = Array.from({ length: 499 }, (_, index) => event(index % 2 ? '' : 'dry', ''));
  const stdin = [event('dry', 'x'.repeat(6_000_000)), ...bad].join('\n');
  const { stdout, stderr } = await memory([...batch, '-', '--dry-run', '--errors-out', out], {
    stdin,
  });
  expect(stderr).toContain('line 1: is larger than 5 MiB');
  expect(stdout).toBe('valid\t0\nfailed\t500\n');
  const kept = lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line).line);
  expect(kept).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
});

test('--dry-run accepts a line of almost 5 MiB', async () => {
  const stdin = event('dry', 'x'.repeat(5_242_000));
  const { stdout } = await memory([...batch, '-', '--dry-run'], { stdin });
  expect(stdout).toBe('valid\t1\nfailed\t0\n');
});

test('tickets, chats and documents without a type are recognized', async () => {
  const userId = 'untyped';
  const records = [
    { userId, data: { subject: 'S', comments: [{ author: 'user', content: 'Help' }] } },
    { userId, messages: [{ role: 'user', content: 'Hi' }] },
    { userId, text: 'T', title: 'Notes' },
    { userId, data: { name: 'signed up' } },
  ];
  const stdin = records.map((record) => JSON.stringify(record)).join('\n');
  for (const [option, count] of [
    ['--dry-run', 'valid\t3\n'],
    ['--json', '"accepted":3'],
  ] as const) {
    const { stdout, stderr } = await memory([...batch, '-', option], { stdin });
    expect(stdout).toContain(count);
    expect(stdout + stderr).toContain('type: is required');
  }
  const { items } = await server.client.list({ userId, order: 'asc' });
  expect(items.map(({ type, content }) => [type, content])).toEqual([
    ['ticket', 'S\n\nuser: Help'],
    ['conversation', 'user: Hi'],
    ['document', 'T'],
  ]);
});

test('the error for a text file names the command that accepts the file', async () => {
  using folder = temporaryFolder();
  const file = folder.file('notes.md');
  writeFileSync(file, '# Notes\n\nA text.\n');
  const { code, stdout, stderr } = await memory([...batch, file]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `Error: ${file} is not JSON: expected one record per line.\n` +
      `To ingest it as one document: memory ingest document ${file} --user <id>\n`,
  );
  const { stderr: bad } = await memory([...batch, '-'], { stdin: `oops\n${event('text', 'a')}` });
  expect(bad).toContain('line 1: is not valid JSON');
});

test('accepts a byte order mark, CRLF and a missing final newline', async () => {
  const text = [event('mark', 'a'), event('mark', 'b')].join('\r\n');
  const ran = await memory([...batch, '-'], { stdin: `\ufeff${text}` });
  expect(ran).toEqual({
    code: 0,
    stdout: 'accepted\t2\nreplayed\t0\nfailed\t0\n',
    stderr: '',
  });
  const array = await memory([...batch, '-'], { stdin: `\ufeff [${event('mark', 'c')}]` });
  expect(array.stdout).toContain('accepted\t1\n');
});

test('a folder and a missing file cause different errors', async () => {
  using folder = temporaryFolder();
  const missing = await memory([...batch, folder.file('none.jsonl')]);
  expect(missing.stderr).toStartWith(`Error: File not found: ${folder.file('none.jsonl')}.`);
  const { code, stderr } = await memory([...batch, folder.path]);
  expect(stderr).toStartWith(`Error: ${folder.path} is a folder, not a file.`);
  expect([missing.code, code]).toEqual([1, 1]);
});

test('a second line that is only a JSON string is reported, and the other lines are ingested', async () => {
  const stdin = [event('quote', 'a'), '"oops"', event('quote', 'b')].join('\n');
  const { code, stdout, stderr } = await memory([...batch, '-'], { stdin });
  expect(stdout).toBe('accepted\t2\nreplayed\t0\nfailed\t1\n');
  expect(stderr).toStartWith('line 2: ');
  expect(code).toBe(1);
});

test('if one of two lines cannot be sent, the other one is ingested', async () => {
  const deep = event('pair', 'deep').replace('"deep"', `${'['.repeat(33)}${']'.repeat(33)}`);
  const stdin = `${event('pair', 'a')}\n${deep}`;
  const { code, stdout, stderr } = await memory([...batch, '-'], { stdin });
  expect(stdout).toBe('accepted\t1\nreplayed\t0\nfailed\t1\n');
  expect(stderr).toStartWith('line 2: the JSON must be at most 32 levels deep');
  expect(code).toBe(1);
});

test('no request with several lines exceeds 1 MiB, the default limit of nginx', async () => {
  const sizes: number[] = [];
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, headers } = request;
      const body = await request.arrayBuffer();
      sizes.push(body.byteLength);
      return fetch(server.url + new URL(request.url).pathname, { method, headers, body });
    },
  });
  const all = Array.from({ length: 6 }, (_, at) => event('sizes', `${at}`.repeat(400_000)));
  const env = { MEMORY_BASE_URL: `http://127.0.0.1:${proxy.port}` };
  const { stdout } = await memory([...batch, '-'], { stdin: all.join('\n'), env });
  await proxy.stop(true);
  expect(stdout).toBe('accepted\t6\nreplayed\t0\nfailed\t0\n');
  expect(Math.max(...sizes)).toBeLessThan(1024 * 1024);
});

test('--dry-run reads a line of 17 MiB and reports that the service would reject it', async () => {
  const stdin = event('dry', 'x'.repeat(17 * 1024 * 1024));
  const { stderr } = await memory([...batch, '-', '--dry-run'], { stdin });
  expect(stderr).toBe('line 1: is larger than 5 MiB, the default limit of the service\n');
});

test('exactly 20 invalid lines are all shown, without a note about more', async () => {
  const { stderr } = await memory([...batch, '-'], { stdin: '{\n'.repeat(20) });
  expect(lines(stderr).filter((line) => line.startsWith('line '))).toHaveLength(20);
  expect(stderr).not.toMatch(/^and /m);
});
