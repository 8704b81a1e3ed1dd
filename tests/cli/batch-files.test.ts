import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt, temporaryFolder } from './command.ts';

/* What memory ingest batch reads from, and where it writes what was bad. */

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
  test('begins anew: nothing of an earlier run stays in it', async () => {
    using folder = temporaryFolder();
    const out = folder.file('bad.jsonl');
    writeFileSync(out, 'of an earlier run\n'.repeat(100));
    await memory([...batch, '-', '--errors-out', out], { stdin: `${event('anew', 'a')}\n{` });
    const kept = lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line));
    expect(kept).toMatchObject([{ line: 2, error: 'invalid_json' }]);
    await memory([...batch, '-', '--errors-out', out], { stdin: event('anew', 'a') });
    expect(readFileSync(out, 'utf8')).toBe('');
  });

  test.each([['batch'], ['record']])(
    'of ingest %s never is the file that is read',
    async (door) => {
      using folder = temporaryFolder();
      const file = folder.file('in.jsonl');
      const text = `${event('kept', 'a')}\n{`;
      writeFileSync(file, text);
      symlinkSync(file, folder.file('link'));
      for (const out of [file, `${folder.path}/./in.jsonl`, folder.file('link')]) {
        const { code, stderr } = await memory(['ingest', door, file, '--errors-out', out]);
        expect(stderr).toContain('--errors-out would overwrite the file that is read');
        expect(code).toBe(2);
      }
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  test('that cannot be written is told before anything is sent', async () => {
    using folder = temporaryFolder();
    const argv = [...batch, '-', '--errors-out', folder.file('no/such/folder')];
    const { code, stderr } = await memory(argv, { stdin: `${event('early', 'a')}\n{` });
    expect(stderr).toStartWith('Error: --errors-out cannot be written: ENOENT');
    expect(code).toBe(1);
    expect((await server.client.list({ userId: 'early' })).items).toEqual([]);
  });
});

test('--dry-run reports a line that no request could hold, and every other bad one', async () => {
  using folder = temporaryFolder();
  const out = folder.file('bad.jsonl');
  const bad = Array.from({ length: 499 }, (_, index) => event(index % 2 ? '' : 'dry', ''));
  const stdin = [event('dry', 'x'.repeat(6_000_000)), ...bad].join('\n');
  const { stdout, stderr } = await memory([...batch, '-', '--dry-run', '--errors-out', out], {
    stdin,
  });
  expect(stderr).toContain('line 1: is larger than the 5 MiB that a service takes');
  expect(stdout).toBe('valid\t0\nfailed\t500\n');
  const kept = lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line).line);
  expect(kept).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
});

test('a file with a byte order mark, CRLF and no newline at its end', async () => {
  const text = [event('mark', 'a'), event('mark', 'b')].join('\r\n');
  const ran = await memory([...batch, '-'], { stdin: `\ufeff${text}` });
  expect(ran).toEqual({
    code: 0,
    stdout: 'accepted\t2\nreplayed\t0\nfailed\t0\n',
    stderr: '',
  });
  const array = await memory([...batch, '-'], { stdin: `\ufeff [${event('mark', 'c')}]` });
  expect(array.stderr).toContain('holds a JSON array');
});

test('a folder and a file that is not there are told as what they are', async () => {
  using folder = temporaryFolder();
  const missing = await memory([...batch, folder.file('none.jsonl')]);
  expect(missing.stderr).toStartWith(`Error: There is no file ${folder.file('none.jsonl')}.`);
  const { code, stderr } = await memory([...batch, folder.path]);
  expect(stderr).toStartWith(`Error: ${folder.path} is a folder, not a file.`);
  expect([missing.code, code]).toEqual([1, 1]);
});
