import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { temporaryFolder } from '../support/folder.ts';
import { event, expectRan, lines, summaryOf, withMemory } from './command.ts';
import { forward, startService } from './service.ts';
import { shellAt } from './shell.ts';

const { server, memory } = await withMemory();
const shell = shellAt(server);

const batch = ['ingest', 'batch'];

describe('--errors-out', () => {
  test('truncates the file of an earlier run unless the run fails before its first results', async () => {
    using folder = temporaryFolder();
    const out = folder.file('bad.jsonl');
    writeFileSync(out, 'of an earlier run\n'.repeat(100));
    writeFileSync(folder.file('in.jsonl'), event('anew', 'a'));
    writeFileSync(folder.file('none'), '');
    await memory([...batch, '-', '--errors-out', out], { stdin: `${event('anew', 'a')}\n{` });
    const kept = lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line));
    expect(kept).toMatchObject([{ line: 2, error: 'invalid_json' }]);
    const env = { MEMORY_API_KEY: 'not-a-key-of-this-server' };
    await memory([...batch, '-', '--errors-out', out], { stdin: event('anew', 'a'), env });
    expect(lines(readFileSync(out, 'utf8'))).toHaveLength(1);
    for (const command of [
      [...batch, folder.file('in.jsonl')],
      ['import', folder.file('none')],
    ]) {
      writeFileSync(out, 'of an earlier run\n');
      await memory([...command, '--errors-out', out]);
      expect(readFileSync(out, 'utf8')).toBe('');
    }
  });

  test.each([['batch'], ['record']])('of ingest %s cannot be the input file', async (endpoint) => {
    using folder = temporaryFolder();
    const file = folder.file('in.jsonl');
    const text = `${event('kept', 'a')}\n{`;
    writeFileSync(file, text);
    symlinkSync(file, folder.file('link'));
    for (const out of [file, `${folder.path}/./in.jsonl`, folder.file('link')]) {
      const ran = await memory(['ingest', endpoint, file, '--errors-out', out]);
      expectRan(ran, 2, '--errors-out would overwrite the input file');
    }
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each(['ingest batch', 'import'])('of %s - cannot be the file on stdin', async (command) => {
    using folder = temporaryFolder();
    const text = `${event('kept', 'a')}\n{`;
    writeFileSync(folder.file('in.jsonl'), text);
    const line = `cd ${folder.path}; $MEMORY ${command} - --errors-out in.jsonl <in.jsonl`;
    const ran = await shell(line).ended;
    expect(readFileSync(folder.file('in.jsonl'), 'utf8')).toBe(text);
    expectRan(ran, 2, '--errors-out would overwrite the input file');
    const device = `$MEMORY ${command} - --errors-out /dev/null </dev/null`;
    expect((await shell(device).ended).stderr).not.toContain('would overwrite');
  });

  test.each([['no/such/bad.jsonl'], ['']])(
    'that cannot be written stops the run: %p',
    async (name) => {
      using folder = temporaryFolder();
      const argv = [...batch, '-', '--errors-out', `${folder.path}/${name}`];
      const stdin = `${event('early', 'a')}\n{`;
      expectRan(await memory(argv, { stdin }), 1, `Error: Cannot write ${folder.path}/${name} (`);
      expect((await server.client.list({ userId: 'early' })).items).toEqual([]);
    },
  );

  test.skipIf(!existsSync('/dev/full')).each([100, 200_000])(
    'on a full disk stops the run: an invalid line of %d bytes',
    async (bytes) => {
      using folder = temporaryFolder();
      writeFileSync(folder.file('in.jsonl'), event('u', 'x', { unknown: 'y'.repeat(bytes) }));
      const line = `$MEMORY ingest batch ${folder.file('in.jsonl')} --errors-out /dev/full`;
      const { code, stderr } = await shell(line).ended;
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'Error: Cannot write /dev/full (ENOSPC).\n',
      });
    },
  );
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

test.each([
  ['the body limit', 21],
  ['32 MiB', 33],
])('a line that exceeds %s is reported, and the other lines are ingested', async (_, size) => {
  const long = event('far', 'x'.repeat(size << 20));
  const stdin = [event(`far${size}`, 'a'), long, event(`far${size}`, 'b')].join('\n');
  const { code, stdout } = await memory([...batch, '-', '--json'], { stdin });
  expect(lines(stdout).map((line) => JSON.parse(line))).toEqual([
    { line: 2, error: 'payload_too_large', message: expect.any(String) },
    { accepted: 2, unchanged: 0, replayed: 0, failed: 1 },
  ]);
  expect(stdout).not.toContain('baseUrl');
  expect(code).toBe(1);
});

test.each([
  ['on one line', '', 1],
  ['with an item on each line', '\n', 2],
])('a JSON array %s, over 32 MiB, is an error with advice', async (_, separator, line) => {
  const stdin = `[${separator}${event('long', 'x'.repeat(33 << 20))}]`;
  const stderr =
    `Error: The input has a line longer than 32 MiB (line ${line}).\n` +
    'Convert it to JSON Lines, with one record on each line.\n';
  expect(await memory([...batch, '-'], { stdin })).toMatchObject({ code: 1, stderr });
});

test('a JSON array and a record that spans several lines are accepted', async () => {
  const records = ['a', 'b'].map((name) => JSON.parse(event('array', name)));
  for (const [value, count] of [
    [records, 2],
    [records[0], 1],
  ] as const) {
    const ran = await memory([...batch, '-'], { stdin: JSON.stringify(value, null, 2) });
    expectRan(ran, 0, `${count} accepted`);
  }
  const exported = await memory(['export', '--user', 'array']);
  const array = `[${lines(exported.stdout).join(',')}]`;
  const { stderr } = await memory(['import', '-'], { stdin: array });
  expect(stderr).toContain(`0 imported, ${lines(exported.stdout).length} skipped, 0 failed.`);
});

test('--dry-run reports a line that is too large, and every other invalid line', async () => {
  using folder = temporaryFolder();
  const out = folder.file('bad.jsonl');
  const bad = Array.from({ length: 499 }, (_, index) => event(index % 2 ? '' : 'dry', ''));
  const stdin = [event('dry', 'x'.repeat(6_000_000)), ...bad].join('\n');
  const { stderr } = await memory([...batch, '-', '--dry-run', '--errors-out', out], {
    stdin,
  });
  expect(stderr).toContain('line 1: is larger than 5 MiB');
  expect(stderr).toContain(summaryOf({ valid: 0, failed: 500 }));
  const kept = lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line).line);
  expect(kept).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
});

test('--dry-run accepts a line of almost 5 MiB', async () => {
  const stdin = event('dry', 'x'.repeat(5_242_000));
  const { stderr } = await memory([...batch, '-', '--dry-run'], { stdin });
  expect(stderr).toContain(summaryOf({ valid: 1, failed: 0 }));
});

test('accepts a byte order mark, CRLF and a missing final newline', async () => {
  const text = [event('mark', 'a'), event('mark', 'b')].join('\r\n');
  const ran = await memory([...batch, '-'], { stdin: `\ufeff${text}` });
  expect(ran).toEqual({
    code: 0,
    stdout: '',
    stderr: summaryOf({ accepted: 2, replayed: 0, failed: 0 }),
  });
  const array = await memory([...batch, '-'], { stdin: `\ufeff [${event('mark', 'c')}]` });
  expect(array.stderr).toContain('1 accepted');
});

test('no request with several lines exceeds 1 MiB, the default limit of nginx', async () => {
  const sizes: number[] = [];
  await using service = startService((request) => {
    sizes.push(Number(request.headers.get('content-length')));
    return forward(request, server);
  });
  const all = Array.from({ length: 6 }, (_, at) => event('sizes', `${at}`.repeat(400_000)));
  const { env } = service;
  const { stderr } = await memory([...batch, '-'], { stdin: all.join('\n'), env });
  expect(stderr).toContain(summaryOf({ accepted: 6, replayed: 0, failed: 0 }));
  expect(Math.max(...sizes)).toBeWithin(400_000, 1024 * 1024);
});
