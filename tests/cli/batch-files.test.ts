import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { temporaryFolder } from '../support/folder.ts';
import { event, expectRan, lines, linesOf, summaryOf, withMemory } from './command.ts';
import { forward, startService } from './service.ts';
import { shellAt } from './shell.ts';

const { server, memory } = await withMemory();
const shell = shellAt(server);

const ingest = (stdin: string, ...more: string[]) =>
  memory(['ingest', 'batch', '-', ...more], { stdin });
const jsonLines = (text: string) => lines(text).map((line) => JSON.parse(line));
const keptIn = (file: string) => jsonLines(readFileSync(file, 'utf8'));
const summary = (accepted: number) => summaryOf({ accepted, replayed: 0, failed: 0 });

describe('--errors-out', () => {
  test('truncates the file of an earlier run unless the run fails before its first results', async () => {
    using folder = temporaryFolder();
    const out = folder.file('bad.jsonl');
    writeFileSync(out, 'of an earlier run\n'.repeat(100));
    await ingest(`${event('anew', 'a')}\n{`, '--errors-out', out);
    expect(keptIn(out)).toMatchObject([{ line: 2, error: 'invalid_json' }]);
    await ingest(event('anew', 'a'), '--errors-out', out, '--api-key', 'not-a-key-of-this-server');
    expect(keptIn(out)).toHaveLength(1);
    for (const [command, text] of [
      ['ingest batch', event('anew', 'a')],
      ['import', ''],
    ] as const) {
      writeFileSync(out, 'of an earlier run\n');
      writeFileSync(folder.file('in.jsonl'), text);
      await memory([...command.split(' '), folder.file('in.jsonl'), '--errors-out', out]);
      expect(readFileSync(out, 'utf8')).toBe('');
    }
  });

  test.each(['batch', 'record'])('of ingest %s cannot be the input file', async (endpoint) => {
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

  test.each(['no/such/bad.jsonl', ''])('that cannot be written stops the run: %p', async (name) => {
    using folder = temporaryFolder();
    const out = `${folder.path}/${name}`;
    const ran = await ingest(`${event('early', 'a')}\n{`, '--errors-out', out);
    expectRan(ran, 1, `Error: Cannot write ${out} (`);
    expect((await server.client.list({ userId: 'early' })).items).toEqual([]);
  });

  test.skipIf(!existsSync('/dev/full')).each([100, 200_000])(
    'on a full disk stops the run: an invalid line of %d bytes',
    async (bytes) => {
      const stdin = event('u', 'x', { unknown: 'y'.repeat(bytes) });
      const stderr = 'Error: Cannot write /dev/full (ENOSPC).\n';
      expect(await ingest(stdin, '--errors-out', '/dev/full')).toMatchObject({ code: 1, stderr });
    },
  );
});

test('bad lines of concurrent requests are reported and stored in file order', async () => {
  using folder = temporaryFolder();
  const out = folder.file('bad.jsonl');
  const isBad = (at: number) => at % 500 < 3;
  const all = linesOf(2_600, (at) => event('order', isBad(at) ? '' : 'x'));
  const { stderr } = await ingest(all, '--errors-out', out);
  const bad = all.split('\n').flatMap((_, at) => (isBad(at) ? [at + 1] : []));
  expect([...stderr.matchAll(/^line (\d+):/gm)].map(([, line]) => Number(line))).toEqual(bad);
  expect(keptIn(out).map(({ line }) => line)).toEqual(bad);
});

test.each([
  ['the body limit', 21],
  ['32 MiB', 33],
])('a line that exceeds %s is reported, and the other lines are ingested', async (_, size) => {
  const long = event('far', 'x'.repeat(size << 20));
  const all = [event(`far${size}`, 'a'), long, event(`far${size}`, 'b')];
  const { code, stdout } = await ingest(all.join('\n'), '--json');
  expect(jsonLines(stdout)).toEqual([
    { line: 2, error: 'payload_too_large', message: expect.not.stringContaining('baseUrl') },
    { accepted: 2, unchanged: 0, replayed: 0, failed: 1 },
  ]);
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
  expect(await ingest(stdin)).toMatchObject({ code: 1, stderr });
});

test('a JSON array and a record that spans several lines are accepted', async () => {
  const records = ['a', 'b'].map((name) => JSON.parse(event('array', name)));
  expectRan(await ingest(JSON.stringify(records, null, 2)), 0, '2 accepted');
  expectRan(await ingest(JSON.stringify(records[0], null, 2)), 0, '1 accepted');
  const exported = lines((await memory(['export', '--user', 'array'])).stdout);
  const { stderr } = await memory(['import', '-'], { stdin: `[${exported.join(',')}]` });
  expect(stderr).toContain(`0 imported, ${exported.length} skipped, 0 failed.`);
});

test('--dry-run reports a line that is too large, and every other invalid line', async () => {
  using folder = temporaryFolder();
  const out = folder.file('bad.jsonl');
  const bad = linesOf(499, (at) => event(at % 2 ? '' : 'dry', ''));
  const large = event('dry', 'x'.repeat(6_000_000));
  const ran = await ingest(`${large}\n${bad}`, '--dry-run', '--errors-out', out);
  expectRan(ran, 1, 'line 1: is larger than 5 MiB', summaryOf({ valid: 0, failed: 500 }));
  expect(keptIn(out).map(({ line }) => line)).toEqual(Array.from({ length: 500 }, (_, n) => n + 1));
});

test('--dry-run accepts a line of almost 5 MiB', async () => {
  const ran = await ingest(event('dry', 'x'.repeat(5_242_000)), '--dry-run');
  expectRan(ran, 0, summaryOf({ valid: 1, failed: 0 }));
});

test('accepts a byte order mark, CRLF and a missing final newline', async () => {
  const ran = await ingest(`\ufeff${event('mark', 'a')}\r\n${event('mark', 'b')}`);
  expect(ran).toEqual({ code: 0, stdout: '', stderr: summary(2) });
  expectRan(await ingest(`\ufeff [${event('mark', 'c')}]`), 0, '1 accepted');
});

test('no request with several lines exceeds 1 MiB, the default limit of nginx', async () => {
  const sizes: number[] = [];
  await using service = startService((request) => {
    sizes.push(Number(request.headers.get('content-length')));
    return forward(request, server);
  });
  const all = linesOf(6, (at) => event('sizes', `${at}`.repeat(400_000)));
  expectRan(await ingest(all, '--base-url', service.env.MEMORY_BASE_URL), 0, summary(6));
  expect(Math.max(...sizes)).toBeWithin(400_000, 1024 * 1024);
});
